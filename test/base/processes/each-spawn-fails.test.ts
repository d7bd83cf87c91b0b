// @module-tag slow
import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { expect, test, vi } from 'vitest';
import { createEmbeddedModel } from '../../../src/model/embedded/create-embedded-model.ts';
import { exampleServer } from '../../mcp/mcp-thread.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { startServer, type TestServer } from '../../support/test-server.ts';

const CODES = ['EMFILE', 'EAGAIN', 'ENOMEM', 'ENOENT', 'E2BIG', 'EACCES'] as const;
type Code = (typeof CODES)[number];

/** Which start of a program fails from now on, counted from 0, and with what. */
const fault = vi.hoisted(() => ({ index: -1, code: 'EMFILE' as Code, started: [] as string[] }));

/**
 * Node throws some errors, and emits others later: without file descriptors, on a child that has no
 * pipes.
 */
vi.mock('node:child_process', async (actual) => {
  const real = await actual<typeof import('node:child_process')>();
  const failing = (program: string, args: readonly string[]): Error | null => {
    const isFailing = fault.started.push([program, ...args].join(' ')) - 1 === fault.index;
    return isFailing
      ? Object.assign(new Error(`spawn ${program} ${fault.code}`), {
          code: fault.code,
          syscall: `spawn ${program}`,
        })
      : null;
  };
  const spawn = (program: string, args: readonly string[], options: SpawnOptions): ChildProcess => {
    const error = failing(program, args);
    if (error === null) return real.spawn(program, args, options);
    if (fault.code === 'ENOMEM' || fault.code === 'E2BIG') throw error;
    if (fault.code !== 'EMFILE') return real.spawn('/nowhere/is/this/program', args, options);
    const child = new EventEmitter();
    process.nextTick(() => child.emit('error', error));
    return child as ChildProcess;
  };
  const execFile = (
    program: string,
    args: readonly string[],
    options: object,
    done?: (error: Error | null) => void,
  ) => {
    const error = failing(program, args);
    if (error === null) return real.execFile(program, args, options as never, done as never);
    const callback = done ?? (options as (error: Error) => void);
    process.nextTick(() => callback(error));
    return new EventEmitter();
  };
  return {
    ...real,
    spawn,
    execFile: Object.assign(execFile, { [promisified]: promised(execFile) }),
  };
});

const { promisified, promised } = vi.hoisted(() => {
  const symbol: unique symbol = Symbol.for('nodejs.util.promisify.custom') as never;
  type Run = (
    program: string,
    args: readonly string[],
    options: object,
    done: (error: Error | null, out: string, err: string) => void,
  ) => unknown;
  const wrap = (run: unknown) => (program: string, args: readonly string[], options: object) =>
    new Promise((resolve, reject) => {
      (run as Run)(program, args, options, (error, stdout, stderr) =>
        error === null ? resolve({ stdout, stderr }) : reject(error),
      );
    });
  return { promisified: symbol, promised: wrap };
});

const CONFIG = `model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "workspace-write"
notify = ["/bin/true"]
[sandbox_workspace_write]
network_access = true
[features.network_proxy.domains]
"denied.example.com" = "deny"
[[hooks.Stop]]
[[hooks.Stop.hooks]]
type = "command"
command = "true"
${exampleServer()}`;

/**
 * Uses everything that starts programs. Returns the programs that were started, and how each use
 * ended.
 */
async function useAll(): Promise<{
  started: string[];
  ends: Record<'command' | 'terminal' | 'search' | 'command/exec' | 'thread/list', string>;
}> {
  fault.started.length = 0;
  const clock = new FakeClock();
  const server = await startServer({
    config: CONFIG,
    clock,
    otherModel: createEmbeddedModel({ clock }),
    files: { 'work/file.txt': 'text' },
  });
  const { client, cwd } = server;
  const call = (args: object) => `call exec_command ${JSON.stringify(args)}\nsay Done.`;
  const ends = {
    command: await turn(server, call({ cmd: 'cat file.txt' })),
    terminal: await turn(server, call({ cmd: 'cat file.txt', tty: true })),
    search: await outcomeOf(client.ask('fuzzyFileSearch', { query: 'file', roots: [cwd] })),
    'command/exec': await outcomeOf(
      client.ask('command/exec', { command: ['cat', 'file.txt'], cwd }),
    ),
    'thread/list': await outcomeOf(client.ask('thread/list', {})),
  };
  await server.close();
  return { started: [...fault.started], ends };
}

async function turn({ client }: TestServer, input: string): Promise<string> {
  const { thread } = await client.request('thread/start', {});
  const started = await client.request('turn/start', {
    threadId: thread.id,
    input: [{ type: 'text', text: input, text_elements: [] }],
  });
  const { status } = await client.turnCompleted(started.turn.id);
  return status;
}

async function outcomeOf(asked: Promise<{ error?: { message: string } }>): Promise<string> {
  return (await asked).error === undefined ? 'answered' : 'refused';
}

// An `error` event that nobody hears is an uncaught exception, which fails the test run.
test('whichever start of a program fails, and with whatever error, every use ends, and the others work', {
  timeout: 180_000,
}, async () => {
  fault.index = -1;
  const { started, ends: all } = await useAll();
  expect(all).toEqual({
    command: 'completed',
    terminal: 'completed',
    search: 'answered',
    'command/exec': 'answered',
    'thread/list': 'answered',
  });
  for (const program of ['cat file.txt', 'example-server', 'nsenter', 'true', 'rg ', '/bin/true'])
    expect(
      started.some((line) => line.includes(program)),
      program,
    ).toBe(true);
  const kinds = started.map((line) => line.replace(/\d+/g, '').slice(0, 300));
  const firsts = kinds.flatMap((kind, index) => (kinds.indexOf(kind) === index ? [index] : []));
  for (const [turn, index] of firsts.entries()) {
    fault.index = index;
    fault.code = CODES[turn % CODES.length] ?? 'EMFILE';
    const { ends } = await useAll();
    const failed = Object.keys(all).filter(
      (use) => ends[use as keyof typeof ends] !== all[use as keyof typeof all],
    );
    expect(failed.length, `${fault.code} of ${started[index]}`).toBeLessThanOrEqual(1);
  }
});
