import { copyFileSync, existsSync, renameSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type HeddleProcess, type Place, place, startHeddle } from './support.ts';

interface Running {
  heddle: HeddleProcess;
  where: Place;
  file: string;
  threadId: string;
}

/**
 * A server with its database open and a thread that it writes to. The test does something to the
 * files, so errors are logged.
 */
async function running(where = place()): Promise<Running> {
  const heddle = await startHeddle(where, { errorsLogged: true });
  const { thread } = await heddle.request('thread/start', {});
  expect(await heddle.turn(thread.id, 'say first')).toMatchObject({ status: 'completed' });
  return { heddle, where, file: join(where.home, 'heddle.db'), threadId: thread.id };
}

/**
 * Expects that nothing is announced as kept: the request is refused, or its turn fails, for this
 * reason.
 */
async function expectUnstored({ heddle, threadId }: Running, reason: RegExp): Promise<void> {
  const { error, result } = await heddle.ask('turn/start', {
    threadId,
    input: [{ type: 'text', text: 'say lost', text_elements: [] }],
  });
  expect({ error, result }).toEqual({
    error: {
      code: -32603,
      message: expect.stringMatching(reason),
      data: expect.objectContaining({ code: 'store_failed' }),
    },
  });
  expect(await heddle.refusal('thread/start', {})).toMatchObject({
    message: expect.stringMatching(reason),
  });
}

/** The texts of the errors in the log. */
function errorsOf({ heddle }: Running): string[] {
  return heddle
    .errors()
    .map((line) => (JSON.parse(line) as { err: { message: string } }).err.message);
}

const HARMS: [string, (running: Running) => void, RegExp][] = [
  [
    'deleted',
    ({ file }) => rmSync(file),
    /heddle\.db was deleted or moved away while heddle had it open: put it back/,
  ],
  [
    'deleted with the files beside it',
    ({ file }) => {
      for (const end of ['', '-wal', '-shm']) rmSync(file + end);
    },
    /heddle\.db was deleted or moved away/,
  ],
  [
    'replaced by another file',
    ({ file, where }) => {
      copyFileSync(file, join(where.work, 'copy'));
      renameSync(join(where.work, 'copy'), file);
    },
    /heddle\.db was replaced while heddle had it open: restart heddle to use the new file/,
  ],
  [
    'emptied',
    ({ file }) => truncateSync(file),
    /heddle\.db was emptied while heddle had it open: .*`?heddle store restore FILE/,
  ],
  [
    'moved away with its home',
    ({ where }) => renameSync(where.home, `${where.home}-2`),
    /heddle\.db was deleted or moved away/,
  ],
];

describe('a turn on a database that was', () => {
  test.each(HARMS)('%s is refused, and the log says so once', async (_how, harm, reason) => {
    const server = await running();
    harm(server);
    await expectUnstored(server, reason);
    await expectUnstored(server, reason);
    expect(errorsOf(server)).toEqual([expect.stringMatching(reason)]);
  });

  test('deleted while the turn runs fails, and does not complete', async () => {
    const server = await running();
    const { heddle, threadId, file } = server;
    await heddle.request('turn/start', {
      threadId,
      input: [{ type: 'text', text: 'say half\nwait 200\nsay whole', text_elements: [] }],
    });
    await heddle.waitFor(
      'item/completed',
      ({ item }) => item.type === 'agentMessage' && item.text === 'half',
    );
    rmSync(file);
    const { turn } = await heddle.waitFor(
      'turn/completed',
      ({ turn: { status } }) => status !== 'completed',
    );
    expect(turn).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('was deleted or moved away') },
    });
    const completed = heddle.notifications(
      'item/completed',
      ({ item }) => item.type === 'agentMessage' && item.text === 'whole',
    );
    expect(completed).toEqual([]);
  });
});

test('a database that is put back is used again, and nothing of it is lost', async () => {
  const server = await running();
  const { heddle, where, file, threadId } = server;
  renameSync(file, `${file}-2`);
  await expectUnstored(server, /was deleted or moved away/);
  renameSync(`${file}-2`, file);
  expect(await heddle.turn(threadId, 'say second')).toMatchObject({ status: 'completed' });
  expect(heddle.stderr).toContain('the database is in its place again');
  await heddle.finish();
  const next = await startHeddle(where);
  const { thread } = await next.request('thread/read', { threadId, includeTurns: true });
  expect(thread.turns.map(({ status }) => status)).toEqual(['completed', 'completed']);
});

test.each(['-wal', '-shm'])(
  'a deleted %s stops writes, and what was announced is in the database',
  async (end) => {
    const server = await running();
    const { heddle, where, file, threadId } = server;
    expect(existsSync(file + end)).toBe(true);
    rmSync(file + end);
    await expectUnstored(
      server,
      new RegExp(`heddle\\.db${end} was deleted while heddle had it open.*restart heddle`),
    );
    await heddle.kill();
    rmSync(`${file}-wal`, { force: true });
    const next = await startHeddle(where);
    const { thread } = await next.request('thread/read', { threadId, includeTurns: true });
    expect(thread.turns.map(({ status }) => status)).toEqual(['completed']);
  },
);

test('of two servers, neither goes on with a database that the other does not have', async () => {
  const first = await running();
  const second = await running(first.where);
  rmSync(first.file);
  for (const server of [first, second]) await expectUnstored(server, /was deleted or moved away/);
  for (const end of ['-wal', '-shm']) rmSync(first.file + end);
  const third = await running(first.where);
  for (const server of [first, second])
    await expectUnstored(server, /was replaced while heddle had it open/);
  expect(await third.heddle.turn(third.threadId, 'say third')).toMatchObject({
    status: 'completed',
  });
  for (const { heddle } of [first, second]) await heddle.finish();
  expect(await third.heddle.turn(third.threadId, 'say fourth')).toMatchObject({
    status: 'completed',
  });
});
