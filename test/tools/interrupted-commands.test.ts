import { describe, expect, test } from 'vitest';
import { livingWith, uniqueSleep } from '../sandbox/living-with.ts';
import type { ScriptedResponse } from '../support/test-model.ts';
import type { TestServer } from '../support/test-server.ts';
import {
  commandServer,
  completed,
  done,
  FREE_CONFIG,
  modelOutput,
  runs,
  says,
  THREAD,
  writes,
} from './command-server.ts';

const WAIT_MS = 250;
const TERMINATE_AFTER_MS = 5_000;
const KILL_AFTER_MS = 10_000;
const DELTA_AGE_MS = 30;
const PLACES = ['danger-full-access', 'workspace-write'].flatMap((sandbox) =>
  [false, true].map((tty) => ({ sandbox, tty })),
);

interface World {
  sandbox?: string;
  tty?: boolean;
}

/**
 * A server whose command has printed `up` and runs in the background, and whose turn continues with
 * these responses.
 */
async function background(
  cmd: string,
  { sandbox = 'danger-full-access', tty = false }: World,
  ...responses: ScriptedResponse[]
) {
  const start = runs(`${cmd}`, { tty, login: false, yield_time_ms: WAIT_MS });
  const config = FREE_CONFIG.replace('danger-full-access', sandbox);
  const server = await commandServer([start, ...responses, done], { config });
  const turn = server.client.turn(THREAD, 'go');
  await says(server, 'up');
  await passes(server, WAIT_MS);
  return { server, turn };
}

/** Waits for a timer of this time, and lets the time pass. */
async function passes(server: TestServer, ms: number): Promise<void> {
  await server.clock.timerOf(ms);
  server.clock.advance(ms);
}

/** Resolves when the command has printed `text`. Lets the time pass after which output is sent. */
async function hears(server: TestServer, text: string): Promise<void> {
  let isHeard = false;
  const heard = says(server, text).then(() => {
    isHeard = true;
  });
  while (!isHeard) {
    await Promise.race([heard, server.clock.timerOf(DELTA_AGE_MS)]);
    server.clock.advance(DELTA_AGE_MS);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const ctrlC = (callId = 'call_2') => writes('\u0003', { yield_time_ms: WAIT_MS }, callId);
const plain = (text: string) => text.replaceAll('\r', '');

describe.each(PLACES)('Ctrl-C in $sandbox, with a terminal: $tty', (world) => {
  test('ends a command, and the processes of its session, with exit code 130', async () => {
    const sleep = uniqueSleep();
    const { server, turn } = await background(
      `${sleep} | cat & echo up; ${sleep}; echo after`,
      world,
      ctrlC(),
    );
    expect(await turn).toMatchObject({ status: 'completed' });
    expect(completed(server)).toMatchObject([
      { status: 'failed', exitCode: 130, aggregatedOutput: world.tty ? 'up\r\n^C' : 'up\n' },
    ]);
    expect(modelOutput(server, 'call_2')).toContain('Process exited with code 130\n');
    await server.close();
    expect(livingWith(sleep)).toEqual([]);
  });

  test('runs the handler of a command, whose output and exit code the model reads', async () => {
    const { server, turn } = await background(
      'trap "echo caught; exit 42" INT; echo up; while :; do sleep 0.1; done',
      world,
      ctrlC(),
    );
    await turn;
    expect(completed(server)).toMatchObject([{ status: 'failed', exitCode: 42 }]);
    expect(plain(modelOutput(server, 'call_2'))).toMatch(
      /Process exited with code 42\n.*\nOutput:\n(\^C)?caught\n$/,
    );
  });

  test('becomes SIGTERM for a command that ignores it, and then a kill for one that ignores that, too', async () => {
    const sleep = uniqueSleep();
    const command = `trap "" INT; trap "echo not yet" TERM; echo up; while :; do ${sleep}; done`;
    const { server, turn } = await background(
      command,
      world,
      ctrlC(),
      writes('', { yield_time_ms: 60_000 }, 'call_3'),
    );
    await passes(server, WAIT_MS);
    await passes(server, TERMINATE_AFTER_MS);
    await hears(server, 'not yet');
    expect(completed(server)).toEqual([]);
    await passes(server, KILL_AFTER_MS);
    await turn;
    expect(completed(server)).toMatchObject([{ status: 'failed', exitCode: 137 }]);
    expect(livingWith(sleep)).toEqual([]);
  });
});

test.each(['danger-full-access', 'workspace-write'])(
  'an interpreter in a terminal in %s answers Ctrl-C and continues',
  async (sandbox) => {
    const script =
      'process.on("SIGINT", () => console.log("still here")); process.stdin.on("data", (text) => console.log(text + 2)); console.log("up")';
    const interpreter = `exec ${process.execPath} -e '${script}'`;
    const { server, turn } = await background(
      interpreter,
      { sandbox, tty: true },
      ctrlC(),
      writes('4\n', { yield_time_ms: WAIT_MS }, 'call_3'),
      done,
    );
    await hears(server, 'still here');
    await passes(server, WAIT_MS);
    await hears(server, '4\r\n4\r\n2');
    await passes(server, WAIT_MS);
    expect(await turn).toMatchObject({ status: 'completed' });
    server.clock.advance(TERMINATE_AFTER_MS + KILL_AFTER_MS);
    const { data } = await server.client.request('thread/backgroundTerminals/list', {
      threadId: THREAD,
    });
    expect(data).toHaveLength(1);
  },
);

test('a process that has left the session of its command is not interrupted with it', async () => {
  const sleep = uniqueSleep();
  const { server, turn } = await background(
    `setsid sh -c "echo up; exec ${sleep} >/dev/null" & sleep 1000`,
    {},
    ctrlC(),
  );
  await turn;
  expect(completed(server)).toMatchObject([{ exitCode: 130 }]);
  expect(livingWith(sleep)).toEqual([sleep]);
  await server.close();
  expect(livingWith(sleep)).toEqual([]);
});
