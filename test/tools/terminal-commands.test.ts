import { describe, expect, test } from 'vitest';
import { livingWith, uniqueSleep } from '../sandbox/living-with.ts';
import { functionCall, response, type ScriptedResponse } from '../support/test-model.ts';
import {
  commandServer,
  completed,
  done,
  modelOutput,
  runs,
  says,
  THREAD,
  turnYielding,
  writes,
  YIELD_MS,
} from './command-server.ts';

/** A command in a terminal that soon continues in the background. */
function inTerminal(cmd: string): ScriptedResponse {
  return runs(cmd, { tty: true, login: false, yield_time_ms: YIELD_MS });
}

describe('a command in a terminal', () => {
  test('is interactive and can be written to', async () => {
    const program =
      'stty -echo; printf "name? "; read name; printf "hello %s, age? " "$name"; read age; echo "so $age"';
    const server = await commandServer([
      inTerminal(program),
      writes('Ada\n', { yield_time_ms: YIELD_MS }),
      writes('36\n', { yield_time_ms: YIELD_MS }, 'call_3'),
      done,
    ]);
    await turnYielding(server, ['name? ', 'hello Ada, age? ']);
    expect(completed(server)).toMatchObject([
      {
        id: 'call_1',
        status: 'completed',
        exitCode: 0,
        aggregatedOutput: 'name? hello Ada, age? so 36\r\n',
      },
    ]);
    expect(modelOutput(server, 'call_2')).toMatch(
      /\nProcess running with session ID \d+\nOriginal token count: 4\nOutput:\nhello Ada, age\? $/,
    );
    expect(modelOutput(server, 'call_3')).toMatch(
      /\nProcess exited with code 0\nOriginal token count: 2\nOutput:\nso 36\r\n$/,
    );
    const typed = server.client
      .notifications('item/commandExecution/terminalInteraction')
      .map(({ itemId, stdin }) => [itemId, stdin]);
    expect(typed).toEqual([
      ['call_1', 'Ada\n'],
      ['call_1', '36\n'],
    ]);
  });

  test('receives SIGINT from ctrl-C', async () => {
    const server = await commandServer([
      inTerminal('trap "echo caught; exit 7" INT; echo up; while :; do sleep 0.1; done'),
      writes('\u0003'),
      done,
    ]);
    await turnYielding(server, ['up']);
    expect(completed(server)).toMatchObject([
      { status: 'failed', exitCode: 7, aggregatedOutput: 'up\r\n^Ccaught\r\n' },
    ]);
  });

  test('reads the end of its input from ctrl-D', async () => {
    const server = await commandServer([
      inTerminal('echo up; cat; echo over'),
      writes('last\n\u0004'),
      done,
    ]);
    await turnYielding(server, ['up']);
    expect(completed(server)).toMatchObject([
      { status: 'completed', exitCode: 0, aggregatedOutput: 'up\r\nlast\r\nlast\r\nover\r\n' },
    ]);
  });

  test('that has ended cannot be written to: the model is told its end once, and then that it does not exist', async () => {
    const server = await commandServer([
      inTerminal('echo up; read x; exit 3'),
      done,
      writes('late\n', { yield_time_ms: YIELD_MS }),
      writes('later\n', { yield_time_ms: YIELD_MS }, 'call_3'),
      done,
    ]);
    await turnYielding(server, ['up']);
    const [{ processId = null } = {}] = server.client
      .notifications('item/started')
      .flatMap(({ item }) => (item.type === 'commandExecution' ? [item] : []));
    expect(
      await server.client.request('thread/backgroundTerminals/terminate', {
        threadId: THREAD,
        processId: processId ?? '',
      }),
    ).toEqual({
      terminated: true,
    });
    await server.client.turn(THREAD, 'write');
    expect(modelOutput(server, 'call_2')).toContain('\nProcess exited with code 137\n');
    expect(modelOutput(server, 'call_3')).toBe(
      `write_stdin: session ${processId} does not exist, or has ended.`,
    );
    expect(server.client.notifications('item/commandExecution/terminalInteraction')).toEqual([]);
  });
});

test('64 commands of a thread can run in the background; a 65th is refused with the list of sessions', async () => {
  const calls = Array.from({ length: 65 }, (_, index) =>
    functionCall(
      'exec_command',
      { cmd: `echo up${index}; exec sleep 1000`, login: false, yield_time_ms: YIELD_MS },
      { callId: `call_${index}` },
    ),
  );
  const server = await commandServer([
    response(...calls.slice(0, 64)),
    response(calls[64] ?? []),
    done,
  ]);
  const turn = server.client.turn(THREAD, 'go');
  for (let index = 0; index < 64; index++) await says(server, `up${index}\n`);
  await expect.poll(() => server.clock.advance(YIELD_MS) ?? server.model.requests.length).toBe(3);
  await turn;
  expect(modelOutput(server, 'call_64')).toMatch(
    /^This command was not run: 64 commands of this thread are running, .* sessions (\d+, ){63}\d+\.$/,
  );
  await server.client.request('thread/backgroundTerminals/clean', { threadId: THREAD });
  await expect.poll(() => completed(server).length).toBe(64);
}, 30_000);

test('50 interrupted turns with trees of processes leave no process', {
  tags: 'slow',
}, async () => {
  const sleep = uniqueSleep();
  const tree = `${sleep} & (setsid sh -c '${sleep} & env -i ${sleep}' &) ; echo up; ${sleep}`;
  const server = await commandServer(
    Array.from({ length: 50 }, (_, index) => runs(tree, { login: false }, `call_${index}`)),
  );
  for (let round = 0; round < 50; round++) {
    const { turn } = await server.client.request('turn/start', { threadId: THREAD, input: [] });
    const ofTurn = ({ turnId, delta }: { turnId: string; delta: string }) =>
      turnId === turn.id && delta.includes('up');
    await server.client.waitFor('item/commandExecution/outputDelta', ofTurn);
    await server.client.request('turn/interrupt', { threadId: THREAD, turnId: turn.id });
    await server.client.waitFor('turn/completed', ({ turn: { id } }) => id === turn.id);
    expect(livingWith(sleep)).toEqual([]);
  }
});
