// @module-tag slow
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { neverCollect } from '../../src/store/sqlite/connect/load-sqlite.ts';
import {
  answered,
  completed,
  created,
  message,
  ProviderServer,
  type Reply,
  sse,
} from '../model/provider-server.ts';
import { brief } from '../support/expected.ts';
import { Gate } from '../support/gate.ts';
import { text } from '../support/test-client.ts';
import { readTurns } from '../support/thread-with.ts';
import {
  type HeddleProcess,
  type Place,
  type ProcessOptions,
  place,
  providerToml,
  startHeddle,
} from './support.ts';

const INTERNAL_ERROR = -32603;
/** Of util-linux, as setpriv is. */
const CHANGE_LIMITS = 'prlimit';

/** A home with one thread of one turn, closed in order. */
async function usedHome(): Promise<{ where: Place; threadId: string; file: string }> {
  const where = place();
  const heddle = await startHeddle(where);
  const { thread } = await heddle.request('thread/start', {});
  await heddle.turn(thread.id, 'say first');
  await heddle.finish();
  return { where, threadId: thread.id, file: join(where.home, 'heddle.db') };
}

/** The home's files and what they hold. */
function contents(home: string): Record<string, string> {
  const names = readdirSync(home, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return Object.fromEntries(
    names.map(({ name, parentPath }) => [name, readFileSync(join(parentPath, name), 'base64')]),
  );
}

async function listed(heddle: HeddleProcess): Promise<string[]> {
  return (await heddle.request('thread/list', { modelProviders: [] })).data.map(({ id }) => id);
}

async function expectEphemeralTurn(heddle: HeddleProcess): Promise<void> {
  const { thread } = await heddle.request('thread/start', { ephemeral: true });
  expect(await heddle.turn(thread.id, 'say kept nowhere')).toMatchObject({ status: 'completed' });
}

describe('a home that cannot be written', () => {
  /** Root may write everywhere, unless that is taken from it. */
  const withoutPower = [
    'setpriv',
    '--bounding-set=-dac_override',
    '--inh-caps=-dac_override',
    '--',
  ];
  const asUser: ProcessOptions = process.geteuid?.() === 0 ? { through: withoutPower } : {};

  function makeReadOnly(folder: string): void {
    for (const name of readdirSync(folder))
      chmodSync(join(folder, name), name === 'heddle-writers' ? 0o555 : 0o444);
    chmodSync(folder, 0o555);
    onTestFinished(() => chmodSync(folder, 0o755));
  }

  test('is listed and read; what would be written is refused with the name of the file; nothing is changed', async () => {
    const { where, threadId, file } = await usedHome();
    makeReadOnly(where.home);
    const before = contents(where.home);
    const heddle = await startHeddle(where, asUser);
    expect(await listed(heddle)).toEqual([threadId]);
    expect((await readTurns(heddle, threadId)).map(({ items }) => brief(items))).toEqual([
      ['user: say first', 'agent: first'],
    ]);
    const error = {
      code: INTERNAL_ERROR,
      message: expect.stringContaining(file),
      data: { code: 'store_read_only' },
    };
    expect(await heddle.refusal('thread/start', {})).toEqual(error);
    expect(await heddle.refusal('thread/resume', { threadId })).toEqual(error);
    expect(await heddle.refusal('thread/fork', { threadId })).toEqual(error);
    expect(await heddle.refusal('thread/name/set', { threadId, name: 'new' })).toEqual(error);
    await expectEphemeralTurn(heddle);
    expect(await heddle.finish()).toEqual({ code: 0, signal: null });
    expect(contents(where.home)).toEqual(before);
    expect(readdirSync(where.temp)).toEqual([]);
  });

  test('and holds nothing lists nothing', async () => {
    const where = place();
    makeReadOnly(where.home);
    const heddle = await startHeddle(where, asUser);
    expect(await listed(heddle)).toEqual([]);
    expect((await heddle.refusal('thread/start', {})).message).toContain(where.home);
    await expectEphemeralTurn(heddle);
  });

  test('since it is a file, is told by its name', async () => {
    const where = place({ file: 'not a folder' });
    const home = join(where.home, 'file');
    const heddle = await startHeddle(where, { env: { HEDDLE_HOME: home } });
    expect(await heddle.refusal('thread/start', {})).toMatchObject({
      code: INTERNAL_ERROR,
      message: expect.stringContaining(home),
    });
    expect(readFileSync(home, 'utf8')).toBe('not a folder');
  });
});

describe('a home without room', () => {
  /** A size that the database and its log exceed from the beginning. */
  const NO_ROOM_BYTES = 4096;

  /** From now on no file of the server can grow beyond so many bytes. */
  function limitFiles({ pid }: HeddleProcess, bytes: number | 'unlimited'): void {
    execFileSync(CHANGE_LIMITS, ['--pid', String(pid), `--fsize=${bytes}:`]);
  }

  const full = (file: string) => ({
    code: INTERNAL_ERROR,
    message: expect.stringContaining(file),
    data: { code: 'store_full' },
  });

  /** A turn that has said something when the room ends, and goes on to say more. */
  async function turnWithoutRoom() {
    const gate = new Gate();
    const begun = [created, ...message('kept', 'msg_1')];
    const reply: Reply = async (res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write(begun.map(sse).join(''));
      await gate.pass();
      res.end([...message('lost', 'msg_2'), completed].map(sse).join(''));
    };
    const provider = await ProviderServer.start(reply, answered);
    const where = place({ 'config.toml': providerToml(provider.port) });
    const heddle = await startHeddle(where);
    const { thread } = await heddle.request('thread/start', {});
    const { turn } = await heddle.request('turn/start', {
      threadId: thread.id,
      input: text('question'),
    });
    await heddle.waitFor('item/completed', ({ item }) => brief([item])[0] === 'agent: kept');
    limitFiles(heddle, NO_ROOM_BYTES);
    gate.open();
    const failed = await heddle.turnCompleted(turn.id);
    const told = heddle.notifications('item/completed').map(({ item }) => item);
    const dispose = () => provider[Symbol.asyncDispose]();
    return {
      heddle,
      where,
      threadId: thread.id,
      file: join(where.home, 'heddle.db'),
      failed,
      told,
      [Symbol.asyncDispose]: dispose,
    };
  }

  test('fails the turn with the name of the file, and refuses the next; what is there can be read', async () => {
    await using run = await turnWithoutRoom();
    const { heddle, threadId, file, failed, told } = run;
    expect(failed).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining(file), codexErrorInfo: 'other' },
    });
    expect(brief(told)).toEqual(['user: question', 'agent: kept']);
    expect(await heddle.refusal('turn/start', { threadId, input: text('next') })).toEqual(
      full(file),
    );
    expect(await heddle.refusal('thread/start', {})).toEqual(full(file));
    expect(await listed(heddle)).toEqual([threadId]);
    const [turn] = await readTurns(heddle, threadId);
    expect(turn).toMatchObject({ id: failed.id, status: 'failed', error: failed.error });
    expect(turn?.items.slice(0, 2)).toEqual(told);
    expect(heddle.notifications('turn/completed')).toHaveLength(1);
  });

  test('has all that was announced when there is room again, without a restart', async () => {
    await using run = await turnWithoutRoom();
    const { heddle, threadId, where, failed, told } = run;
    await heddle.refusal('turn/start', { threadId, input: text('refused') });
    limitFiles(heddle, 'unlimited');
    expect(await heddle.turn(threadId, 'again')).toMatchObject({
      status: 'completed',
      error: null,
    });
    const turns = await readTurns(heddle, threadId);
    await heddle.finish();
    const again = await startHeddle(where);
    expect(await readTurns(again, threadId)).toEqual(turns);
    expect(turns.map(({ status, error }) => ({ status, error }))).toEqual([
      { status: 'failed', error: failed.error },
      { status: 'completed', error: null },
    ]);
    expect(turns[0]?.items.slice(0, 2)).toEqual(told);
    expect(brief(turns[1]?.items ?? [])).toEqual(['user: again', 'agent: ok']);
  });

  test.each(['SIGKILL', 'SIGTERM'] as const)(
    'keeps the items that were announced when %s comes before there is room',
    async (signal) => {
      await using run = await turnWithoutRoom();
      const { heddle, threadId, where, told } = run;
      heddle.signal(signal);
      await heddle.exit;
      const again = await startHeddle(where);
      const [turn] = (await again.request('thread/resume', { threadId })).thread.turns;
      expect(turn?.items.slice(0, 2)).toEqual(told);
      expect(['failed', 'interrupted']).toContain(turn?.status);
      expect(await again.turn(threadId, 'again')).toMatchObject({ status: 'completed' });
    },
  );

  test('for a database at all is told by the name of the file, and the rest works', async () => {
    const where = place();
    const heddle = await startHeddle(where);
    limitFiles(heddle, NO_ROOM_BYTES);
    expect(await heddle.refusal('thread/start', {})).toEqual(full(join(where.home, 'heddle.db')));
    expect((await heddle.request('model/list', {})).data).not.toEqual([]);
    expect(readdirSync(where.home, { recursive: true })).toEqual([
      'heddle-writers',
      join('heddle-writers', 'gate'),
    ]);
    limitFiles(heddle, 'unlimited');
    expect(await listed(heddle)).toEqual([]);
    expect((await heddle.request('thread/start', {})).thread.turns).toEqual([]);
  });
});

describe('a database that cannot be used', () => {
  const refused: [string, (file: string) => void, string][] = [
    ['of a newer version', (file) => sql(file, 'PRAGMA user_version = 99'), 'store_newer'],
    ['that is a folder', (file) => replaceByFolder(file), 'store_failed'],
  ];
  test.each(refused)(
    '%s is told by its name at its first use, and left as it is',
    async (_what, damage, code) => {
      const { where, threadId, file } = await usedHome();
      damage(file);
      const before = contents(where.home);
      const heddle = await startHeddle(where);
      const error = {
        code: INTERNAL_ERROR,
        message: expect.stringContaining(file),
        data: { code: expect.stringMatching(code) },
      };
      expect(await heddle.refusal('thread/list', {})).toEqual(error);
      expect(await heddle.refusal('thread/start', {})).toEqual(error);
      expect(await heddle.refusal('thread/resume', { threadId })).toEqual(error);
      expect(await heddle.refusal('thread/read', { threadId, includeTurns: true })).toEqual(error);
      expect((await heddle.request('model/list', {})).data).not.toEqual([]);
      expect(await heddle.finish()).toEqual({ code: 0, signal: null });
      expect(contents(where.home)).toEqual(before);
    },
  );

  const damaged: [string, (file: string) => void][] = [
    ['emptied', (file) => truncateSync(file, 0)],
    ['cut short', (file) => truncateSync(file, 10_000)],
    ['overwritten', (file) => writeFileSync(file, 'hello\n'.repeat(5_000))],
    ['of another program', (file) => replaceBy(file, 'CREATE TABLE notes (text)')],
  ];
  test.each(damaged)(
    'because it is %s is set aside as it is; a warning tells so once, and new threads work',
    async (_what, damage) => {
      const { where, file } = await usedHome();
      damage(file);
      const before = readFileSync(file);
      const heddle = await startHeddle(where);
      const { thread } = await heddle.request('thread/start', {});
      expect(await heddle.turn(thread.id, 'say done')).toMatchObject({ status: 'completed' });
      await heddle.request('thread/list', {});
      const [aside = ''] = readdirSync(where.home).filter((name) =>
        name.startsWith('heddle.db.damaged-'),
      );
      const message = `${file} was damaged and has been repaired: 0 threads could be read. Nothing of it could be read. The damaged file is kept as ${join(where.home, aside)}.`;
      expect(heddle.messages.filter(({ method }) => method === 'warning')).toEqual([
        { method: 'warning', params: { message, threadId: null } },
      ]);
      expect(readFileSync(join(where.home, aside)).equals(before)).toBe(true);
      expect(heddle.stderr).toContain('the database was damaged and has been repaired');
    },
  );

  test('because it is removed while its WAL is there is made anew, and the WAL is kept', async () => {
    const where = place();
    const heddle = await startHeddle(where);
    const { thread } = await heddle.request('thread/start', {});
    await heddle.turn(thread.id, 'say first');
    await heddle.kill();
    const file = join(where.home, 'heddle.db');
    rmSync(file);
    const log = readFileSync(`${file}-wal`);
    const again = await startHeddle(where);
    await again.request('thread/start', {});
    const [aside = ''] = readdirSync(where.home).filter((name) => name.endsWith('Z-wal'));
    expect(readFileSync(join(where.home, aside)).equals(log)).toBe(true);
  });
});

function sql(file: string, statement: string): void {
  const db = neverCollect(new Database(file));
  db.exec(statement);
  db.close();
}

function replaceBy(file: string, statement: string): void {
  rmSync(file);
  sql(file, statement);
}

function replaceByFolder(file: string): void {
  rmSync(file);
  mkdirSync(file);
}
