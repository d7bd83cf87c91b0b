// @module-tag slow
import { readdirSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Turn } from '../../../src/protocol/generated/types.ts';
import { halfAnswer, ProviderServer } from '../../model/provider-server.ts';
import { brief } from '../../support/expected.ts';
import { CLIENT_INFO, type Message, text } from '../../support/test-client.ts';
import {
  afterShell,
  type HeddleProcess,
  type Place,
  type ProcessOptions,
  place,
  providerToml,
  startHeddle,
} from '../support.ts';

/** Editors wait about so long for a server that they no longer need. */
const END_MS_MAX = 3_000;
/** The time where a client does not read its answers. The server waits for the client, too. */
const END_UNREAD_MS_MAX = 6_000;

const INITIALIZE = { id: 0, method: 'initialize', params: { clientInfo: CLIENT_INFO } };

/** Requests whose answers are more than a pipe holds. */
function manyRequests(): string {
  const requests = Array.from({ length: 2_000 }, (_, index) => ({
    id: index + 1,
    method: 'config/read',
    params: { includeLayers: true },
  }));
  return [INITIALIZE, ...requests].map((request) => `${JSON.stringify(request)}\n`).join('');
}

/** The ids of the requests that these lines answer, in order. */
function answerIds(lines: string): unknown[] {
  const messages = lines
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Message]));
  return messages.flatMap(({ id, method, result }) =>
    method === undefined && result !== undefined ? [id] : [],
  );
}

interface InTurn {
  heddle: HeddleProcess;
  where: Place;
  threadId: string;
  turnId: string;
}

/**
 * A server whose turn waits for the rest of the model's answer, after the client has seen half a
 * message.
 */
async function inTurn(options: ProcessOptions = {}): Promise<InTurn & AsyncDisposable> {
  const provider = await ProviderServer.start(halfAnswer);
  const where = place({
    'config.toml': providerToml(provider.port, { stream_idle_timeout_ms: 600_000 }),
  });
  const heddle = await startHeddle(where, options);
  const { thread } = await heddle.request('thread/start', {});
  const { turn } = await heddle.request('turn/start', {
    threadId: thread.id,
    input: text('question'),
  });
  await heddle.waitFor('item/agentMessage/delta');
  return {
    heddle,
    where,
    threadId: thread.id,
    turnId: turn.id,
    [Symbol.asyncDispose]: () => provider[Symbol.asyncDispose](),
  };
}

/** The thread's turns, as a new process resumes them. */
async function turnsAfter({ where, threadId }: InTurn): Promise<Turn[]> {
  const heddle = await startHeddle(where);
  return (await heddle.request('thread/resume', { threadId })).thread.turns;
}

async function expectInterrupted(run: InTurn): Promise<void> {
  const [turn, ...others] = await turnsAfter(run);
  expect(others).toEqual([]);
  expect(turn).toMatchObject({ id: run.turnId, status: 'interrupted', error: null });
  expect(brief(turn?.items ?? [])).toEqual(['user: question', 'agent: half an answer']);
}

test('an error inside the server that nothing handles is logged, ends turns, and is the exit code', async () => {
  const thrower = "process.once('SIGUSR2', () => { throw new Error('thrown by the test'); });";
  await using run = await inTurn({
    errorsLogged: true,
    env: { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(thrower)}` },
  });
  process.kill(run.heddle.pid, 'SIGUSR2');
  expect(await run.heddle.exit).toEqual({ code: 70, signal: null });
  expect(run.heddle.stderr).toContain('thrown by the test');
  await expectInterrupted(run);
});

describe('the end of the input ends the process with status 0', () => {
  test('before the handshake', async () => {
    const where = place();
    const heddle = await startHeddle(where, { handshake: false });
    expect(await heddle.finish()).toEqual({ code: 0, signal: null });
    expect(heddle.lines).toEqual([]);
    expect(readdirSync(where.home)).toEqual([]);
  });

  test('with a thread that is idle', async () => {
    const heddle = await startHeddle(place());
    const { thread } = await heddle.request('thread/start', {});
    await heddle.turn(thread.id, 'hello');
    const count = heddle.lines.length;
    expect(await heddle.finish()).toEqual({ code: 0, signal: null });
    expect(heddle.lines.slice(count)).toEqual([]);
  });

  test('after everything that was read is answered, without a line end too, and in the order of the requests', async () => {
    const heddle = await startHeddle(place(), { handshake: false });
    const requests = Array.from({ length: 50 }, (_, index) => ({
      id: index + 1,
      method: 'thread/loaded/list',
      params: {},
    }));
    heddle.input.end(
      [INITIALIZE, ...requests].map((request) => JSON.stringify(request)).join('\n'),
    );
    await heddle.ended;
    expect(await heddle.exit).toEqual({ code: 0, signal: null });
    expect(answerIds(heddle.lines.join('\n'))).toEqual([0, ...requests.map(({ id }) => id)]);
  });

  test('after threads that were asked for are stored', async () => {
    const where = place();
    const heddle = await startHeddle(where, { handshake: false });
    const requests = Array.from({ length: 20 }, (_, index) => ({
      id: index + 1,
      method: 'thread/start',
      params: {},
    }));
    heddle.input.end(
      [INITIALIZE, ...requests].map((request) => `${JSON.stringify(request)}\n`).join(''),
    );
    await heddle.ended;
    const ids = heddle.messages.flatMap(
      ({ result }) => (result as { thread?: { id: string } } | undefined)?.thread?.id ?? [],
    );
    expect(new Set(ids).size).toBe(20);
    const again = await startHeddle(where);
    for (const threadId of ids)
      expect((await again.request('thread/read', { threadId })).thread.id).toBe(threadId);
  });

  test('in the middle of a line, which is left out', async () => {
    const heddle = await startHeddle(place());
    heddle.input.write('{"id":7,"method":"thread/lo');
    expect(await heddle.finish()).toEqual({ code: 0, signal: null });
    expect(heddle.messages.filter(({ id }) => id === 7)).toEqual([]);
  });

  test('in the middle of a turn, which is stored as interrupted with what was announced', async () => {
    await using run = await inTurn();
    const closedAt = performance.now();
    expect(await run.heddle.finish()).toEqual({ code: 0, signal: null });
    expect(performance.now() - closedAt).toBeLessThan(END_MS_MAX);
    await expectInterrupted(run);
  });

  test('though the client never reads what it is owed', async () => {
    const where = place();
    const heddle = await startHeddle(where, { reading: false });
    const requests = Array.from({ length: 2_000 }, (_, index) => ({
      id: index + 1,
      method: 'config/read',
      params: { includeLayers: true },
    }));
    heddle.input.end(
      [INITIALIZE, ...requests].map((request) => `${JSON.stringify(request)}\n`).join(''),
    );
    const closedAt = performance.now();
    expect(await heddle.exit).toEqual({ code: 0, signal: null });
    expect(performance.now() - closedAt).toBeLessThan(END_UNREAD_MS_MAX);
  });

  test('where the requests are a file and the answers go to one', async () => {
    const where = place({
      requests: `${JSON.stringify(INITIALIZE)}\n{"id":1,"method":"thread/loaded/list","params":{}}\n`,
    });
    const files = afterShell('cd "$HEDDLE_HOME"; exec < requests > answers');
    const heddle = await startHeddle(where, { through: files, handshake: false });
    expect(await heddle.exit).toEqual({ code: 0, signal: null });
    expect(answerIds(readFileSync(join(where.home, 'answers'), 'utf8'))).toEqual([0, 1]);
  });

  test('where both are pipes of a shell', async () => {
    const where = place({
      requests: `${JSON.stringify(INITIALIZE)}\n{"id":1,"method":"thread/start","params":{}}\n`,
    });
    const pipes = ['/bin/sh', '-c', 'cd "$HEDDLE_HOME"; cat requests | "$@" | cat > answers', 'sh'];
    const heddle = await startHeddle(where, { through: pipes, handshake: false });
    expect(await heddle.exit).toEqual({ code: 0, signal: null });
    expect(answerIds(readFileSync(join(where.home, 'answers'), 'utf8'))).toEqual([0, 1]);
  });
});

describe('a signal ends the process', () => {
  test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    '%s: in a turn, which is stored as interrupted',
    async (signal) => {
      await using run = await inTurn();
      const sentAt = performance.now();
      run.heddle.signal(signal);
      expect(await run.heddle.exit).toEqual({
        code: 128 + constants.signals[signal],
        signal: null,
      });
      expect(performance.now() - sentAt).toBeLessThan(END_MS_MAX);
      const [{ turn } = { turn: null }] = run.heddle.notifications('turn/completed');
      expect(turn).toMatchObject({ id: run.turnId, status: 'interrupted' });
      await expectInterrupted(run);
    },
  );

  test('between turns', async () => {
    const heddle = await startHeddle(place());
    heddle.signal('SIGTERM');
    expect(await heddle.exit).toEqual({ code: 143, signal: null });
  });

  test('though the client never reads what it is owed', async () => {
    const heddle = await startHeddle(place(), { reading: false });
    heddle.input.write(manyRequests());
    await heddle.atRest();
    const sentAt = performance.now();
    heddle.signal('SIGTERM');
    expect(await heddle.exit).toEqual({ code: 143, signal: null });
    expect(performance.now() - sentAt).toBeLessThan(END_MS_MAX);
  });

  test('together with the end of the input: a new process resumes the thread at once', async () => {
    await using run = await inTurn();
    run.heddle.stdin.end();
    run.heddle.signal('SIGTERM');
    await expectInterrupted(run);
    const { code } = await run.heddle.exit;
    expect([0, 143]).toContain(code);
  });
});

describe('a client that closes only what it reads', () => {
  test('ends the process at the next message, and what was announced is stored', async () => {
    await using run = await inTurn();
    run.heddle.stdout.destroy();
    run.heddle.notify('initialized');
    run.heddle.send('{"id":7,"method":"thread/loaded/list","params":{}}');
    expect(await run.heddle.exit).toEqual({ code: 0, signal: null });
    await expectInterrupted(run);
  });
});
