// @module-tag slow
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CLOSING_PROGRAMS_MS_MAX } from '../../../src/agent/closing-programs.ts';
import { Gate } from '../../support/gate.ts';
import { text } from '../../support/test-client.ts';
import type { TestServer } from '../../support/test-server.ts';
import { done, modelOutput, runs } from '../../tools/command-server.ts';
import { ended, hookServer, keeps, modelInput, prints, THREAD } from './hook-server.ts';

const DENIES = 'echo "not here" >&2; exit 2';

/** Whether a process runs. */
function isRunning(pid: string): boolean {
  try {
    return (
      readFileSync(`/proc/${pid.trim()}/stat`, 'utf8').split(') ')[1]?.startsWith('Z') === false
    );
  } catch {
    return false;
  }
}

describe('a hook that fails does not take the turn with it, and decides nothing', () => {
  test.each([
    ['exits with another code', 'echo broken >&2; exit 3', 'hook exited with code 3: broken'],
    ['does not exist', '/no/such/program', /^hook exited with code 127/],
    ['is killed', 'kill -9 $$', 'hook exited with code 137'],
    ['prints broken JSON', 'echo "{\\"decision\\": "', 'PreToolUse hook printed invalid JSON'],
    ['prints a list', 'echo "[]"', 'PreToolUse hook printed invalid JSON'],
    [
      'prints unknown fields',
      prints({ decison: 'block' }),
      'PreToolUse hook printed unknown fields: decison (did you mean decision?)',
    ],
    [
      'prints a field outside of its table',
      prints({ permissionDecision: 'deny' }),
      'PreToolUse hook printed unknown fields: permissionDecision (it belongs into hookSpecificOutput)',
    ],
    [
      'prints fields of wrong types',
      prints({ systemMessage: 5 }),
      'PreToolUse hook printed systemMessage that is not a string',
    ],
    ['asks for what the event cannot do', prints({ continue: false }), /cannot ask for/],
    [
      'prints too much JSON',
      'printf "{"; head -c 2000000 /dev/zero | tr "\\0" " "',
      'PreToolUse hook printed too much JSON',
    ],
  ])('%s', async (_, command, error) => {
    const server = await hookServer({ PreToolUse: [{ command }] }, [runs('echo hi'), done]);
    expect((await server.client.turn(THREAD, 'go')).status).toBe('completed');
    expect(modelOutput(server)).toContain('hi');
    expect(ended(server)).toMatchObject([
      {
        status: 'failed',
        entries: [
          { kind: 'error', text: typeof error === 'string' ? error : expect.stringMatching(error) },
        ],
      },
    ]);
  });

  test('another hook of the event still decides', async () => {
    const server = await hookServer({ PreToolUse: [{ command: 'exit 1' }, { command: DENIES }] }, [
      runs('touch made'),
      done,
    ]);
    await server.client.turn(THREAD, 'go');
    expect(modelOutput(server)).toContain('not here');
    expect(existsSync(join(server.cwd, 'made'))).toBe(false);
  });

  test('hangs: it is killed at its time limit, with all that it started', async () => {
    const command = 'sleep 1000 & echo $! > ../pid; setsid sleep 1000 & echo $! >> ../pid; wait';
    const server = await hookServer({ PreToolUse: [{ command, timeout: 3 }] }, [
      runs('echo hi'),
      done,
    ]);
    const turn = server.client.turn(THREAD, 'go');
    await server.client.waitFor('hook/started');
    await expect
      .poll(
        () =>
          existsSync(join(server.folder, 'pid')) &&
          readFileSync(join(server.folder, 'pid'), 'utf8').split('\n').length,
      )
      .toBe(3);
    server.clock.advance(3_000);
    expect((await turn).status).toBe('completed');
    expect(ended(server)).toMatchObject([
      {
        status: 'failed',
        entries: [{ text: 'PreToolUse hook failed: it did not end within 3 s, and was stopped' }],
      },
    ]);
    expect(modelOutput(server)).toContain('hi');
    const pids = readFileSync(join(server.folder, 'pid'), 'utf8').trim().split('\n');
    await expect.poll(() => pids.filter(isRunning)).toEqual([]);
  });

  test('floods: verbose output that nobody reads is no failure, and context is cut', async () => {
    const flood = 'head -c 3000000 /dev/zero | tr "\\0" x';
    const server = await hookServer(
      { PreToolUse: [{ command: flood }], UserPromptSubmit: [{ command: flood }] },
      [runs('true'), done],
    );
    await server.client.turn(THREAD, 'go');
    expect(ended(server).map(({ status }) => status)).toEqual(['completed', 'completed']);
    const [, context] = modelInput(server, 1);
    expect(String(context).length).toBeLessThan(11_000);
    expect(JSON.stringify(ended(server)).length).toBeLessThan(50_000);
  });

  test('does not read its input, however long that is', async () => {
    const server = await hookServer({ UserPromptSubmit: [{ command: 'exec 0<&-; true' }] }, [done]);
    expect((await server.client.turn(THREAD, 'x'.repeat(900_000))).status).toBe('completed');
    expect(ended(server)).toMatchObject([{ status: 'completed' }]);
  });

  test('leaves a process behind that holds its output: the process is killed', async () => {
    const server = await hookServer(
      { PreToolUse: [{ command: 'sleep 1000 & echo $! > ../pid' }] },
      [runs('echo hi'), done],
    );
    await server.client.turn(THREAD, 'go');
    expect(ended(server)).toMatchObject([{ status: 'completed' }]);
    await expect
      .poll(() => isRunning(readFileSync(join(server.folder, 'pid'), 'utf8')))
      .toBe(false);
  });
});

describe('hooks that hang after an interrupt', () => {
  const hang = { command: 'sleep 1000', timeout: 60 };
  const hooks = { PostModelRequest: [hang], Interrupt: [hang] };
  const started = ({ client }: TestServer) =>
    client.notifications('hook/started').map(({ run }) => run.eventName);

  test('delay the end of a turn by one limit, whatever their events', async () => {
    const server = await hookServer(hooks, [[new Gate()]]);
    const { turn } = await server.client.request('turn/start', {
      threadId: THREAD,
      input: text('go'),
    });
    await server.model.asked(1);
    await server.client.request('turn/interrupt', { threadId: THREAD, turnId: turn.id });
    await expect.poll(() => server.clock.timers.filter((ms) => ms === 60_000)).toHaveLength(2);
    server.clock.advance(10_000);
    await server.client.waitFor('turn/completed');
    expect(started(server).sort()).toEqual(['interrupt', 'postModelRequest']);
    expect(ended(server).map(({ status }) => status)).toEqual(['failed', 'failed']);
  });

  test('delay it no longer if there are more than run at a time, and their processes do not listen', async () => {
    const deaf = {
      command: "trap '' TERM; echo $$ >> ../pids; while :; do sleep 1; done",
      timeout: 60,
    };
    const server = await hookServer({ Interrupt: Array.from({ length: 40 }, () => deaf) }, [
      [new Gate()],
    ]);
    const { turn } = await server.client.request('turn/start', {
      threadId: THREAD,
      input: text('go'),
    });
    await server.model.asked(1);
    await server.client.request('turn/interrupt', { threadId: THREAD, turnId: turn.id });
    const file = join(server.folder, 'pids');
    const pids = () => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []);
    await expect.poll(pids).toHaveLength(16);
    server.clock.advance(10_000);
    await server.client.waitFor('turn/completed');
    expect(ended(server).map(({ status }) => status)).toEqual(
      Array.from({ length: 40 }, () => 'failed'),
    );
    expect(started(server)).toHaveLength(40);
    expect(server.client.notifications('turn/completed')).toHaveLength(1);
    expect(pids().filter(isRunning)).toEqual([]);
  });

  test('do not run if the thread is closed', async () => {
    const server = await hookServer(hooks, [[new Gate()]]);
    await server.client.request('turn/start', { threadId: THREAD, input: text('go') });
    await server.model.asked(1);
    await server.client.request('thread/archive', { threadId: THREAD });
    await server.client.waitFor('turn/completed');
    expect(started(server)).toEqual([]);
  });
});

test('an interrupt kills the hook that the turn waits for, and clients see its end before that of the turn', async () => {
  const server = await hookServer({ PreToolUse: [{ command: 'echo $$ > ../pid; sleep 1000' }] }, [
    runs('touch made'),
  ]);
  const { turn } = await server.client.request('turn/start', {
    threadId: THREAD,
    input: text('go'),
  });
  await expect.poll(() => existsSync(join(server.folder, 'pid'))).toBe(true);
  await server.client.request('turn/interrupt', { threadId: THREAD, turnId: turn.id });
  expect((await server.client.waitFor('turn/completed')).turn.status).toBe('interrupted');
  const order = server.client.messages.map(({ method }) => method);
  expect(order.indexOf('hook/completed')).toBeLessThan(order.indexOf('turn/completed'));
  expect(order.indexOf('hook/completed')).toBeGreaterThan(0);
  expect(isRunning(readFileSync(join(server.folder, 'pid'), 'utf8'))).toBe(false);
  expect(existsSync(join(server.cwd, 'made'))).toBe(false);
});

describe('an asynchronous hook', () => {
  test('holds up nothing and decides nothing; the model reads its context later', async () => {
    const command = `while [ ! -e ../go ]; do sleep 0.01; done; ${prints({ decision: 'block', reason: 'too late', hookSpecificOutput: { additionalContext: 'late' } })}`;
    const server = await hookServer({ PreToolUse: [{ command, async: true }] }, [
      runs('touch ../go'),
      done,
      done,
    ]);
    await server.client.turn(THREAD, 'one');
    await server.client.waitFor('hook/completed');
    expect(server.client.notifications('hook/completed')).toMatchObject([
      { run: { executionMode: 'async', status: 'blocked' } },
    ]);
    await server.client.turn(THREAD, 'two');
    const texts = modelInput(server, server.model.requests.length).map(String);
    expect(texts.filter((each) => each.includes('late'))).toEqual(['developer: late']);
  });

  test('keeps its context if the turn that would read it is interrupted', async () => {
    const late = `while [ ! -e ../go ]; do sleep 0.01; done; ${prints({ hookSpecificOutput: { additionalContext: 'late' } })}`;
    const hangs = 'if [ ! -e ../fine ]; then touch ../hangs; sleep 1000; fi';
    const hooks = {
      PostToolUse: [{ command: late, async: true }],
      SessionStart: [{ matcher: 'compact', command: hangs }],
    };
    const server = await hookServer(hooks, [runs('true'), done, done, done]);
    await server.client.turn(THREAD, 'one');
    await server.client.request('thread/compact/start', { threadId: THREAD });
    await server.client.waitFor('thread/compacted');
    writeFileSync(join(server.folder, 'go'), '');
    await server.client.waitFor('hook/completed');
    const { turn } = await server.client.request('turn/start', {
      threadId: THREAD,
      input: text('two'),
    });
    await expect
      .poll(() => existsSync(join(server.folder, 'hangs')), { timeout: 10_000 })
      .toBe(true);
    await server.client.request('turn/interrupt', { threadId: THREAD, turnId: turn.id });
    await server.client.turnCompleted(turn.id);
    writeFileSync(join(server.folder, 'fine'), '');
    await server.client.turn(THREAD, 'three');
    expect(modelInput(server, server.model.requests.length)).toContain('developer: late');
  });

  test('ends with its thread', async () => {
    const server = await hookServer(
      { PreToolUse: [{ command: 'echo $$ > ../pid; sleep 1000', async: true }] },
      [runs('true'), done],
    );
    await server.client.turn(THREAD, 'go');
    await expect
      .poll(
        () =>
          existsSync(join(server.folder, 'pid')) &&
          readFileSync(join(server.folder, 'pid'), 'utf8') !== '',
      )
      .toBe(true);
    await server.client.request('thread/archive', { threadId: THREAD });
    await expect
      .poll(() => isRunning(readFileSync(join(server.folder, 'pid'), 'utf8')))
      .toBe(false);
  });
});

test('SessionEnd hooks that hang hold up the end of the server for a short time only, however many threads it has', async () => {
  const threads = 34;
  const hooks = { SessionEnd: [{ command: `${keeps('input')}; sleep 1000`, timeout: 500 }] };
  const server = await hookServer(
    hooks,
    Array.from({ length: threads }, () => done),
  );
  await server.client.turn(THREAD, 'go');
  for (let made = 1; made < threads; made++) {
    const { thread } = await server.client.request('thread/start', {});
    await server.client.turn(thread.id, 'go');
  }
  const closing = server.close();
  const deadlines = () => server.clock.timers.filter((ms) => ms === 60_000).length;
  await expect.poll(deadlines, { timeout: 15_000 }).toBe(threads);
  await expect
    .poll(() => server.client.notifications('hook/started').length, { timeout: 15_000 })
    .toBe(32);
  server.clock.advance(CLOSING_PROGRAMS_MS_MAX);
  await closing;
  expect(ended(server).map(({ eventName, status }) => `${eventName} ${status}`)).toEqual(
    Array.from({ length: 32 }, () => 'sessionEnd failed'),
  );
}, 60_000);

test('nobody waits for a hook that was switched off, or whose feature is', async () => {
  const hooks = { PreToolUse: [{ command: DENIES }] };
  const server = await hookServer(hooks, [runs('echo hi'), done], {
    overrides: ['features.hooks=false'],
  });
  await server.client.turn(THREAD, 'go');
  expect(modelOutput(server)).toContain('hi');
  expect(ended(server)).toEqual([]);
});
