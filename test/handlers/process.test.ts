import { describe, expect, test } from 'vitest';
import type { ProcessSpawnParams } from '../../src/protocol/generated/types.ts';
import { livingWith, uniqueSleep } from '../sandbox/living-with.ts';
import { base64 } from '../support/base64.ts';
import type { TestClient } from '../support/test-client.ts';
import { startServer, type TestServer } from '../support/test-server.ts';

function spawn(
  { client, cwd }: TestServer,
  script: string,
  params: Partial<ProcessSpawnParams> = {},
) {
  return client.request('process/spawn', {
    command: ['sh', '-c', script],
    cwd,
    processHandle: 'h',
    ...params,
  });
}

function exited(client: TestClient, processHandle = 'h') {
  return client.waitFor('process/exited', (params) => params.processHandle === processHandle);
}

/** The announced output of a process so far. */
function outputSoFar(client: TestClient): string {
  return Buffer.concat(
    client
      .notifications('process/outputDelta')
      .map(({ deltaBase64 }) => Buffer.from(deltaBase64, 'base64')),
  ).toString();
}

const end = {
  processHandle: 'h',
  exitCode: 0,
  stdout: '',
  stdoutCapReached: false,
  stderr: '',
  stderrCapReached: false,
  outputDrainTimedOut: false,
};

describe('process/spawn', () => {
  test('responds at once, and announces the end with the output', async () => {
    const server = await startServer();
    expect(await spawn(server, 'pwd -P; echo err >&2; exit 5')).toEqual({});
    expect(await exited(server.client)).toEqual({
      ...end,
      exitCode: 5,
      stdout: `${server.cwd}\n`,
      stderr: 'err\n',
    });
    expect(server.client.notifications('process/outputDelta')).toEqual([]);
  });

  test('announces nothing before the response', async () => {
    const server = await startServer();
    for (let round = 0; round < 20; round++) {
      const processHandle = `h${round}`;
      await spawn(server, 'echo out', { processHandle, streamStdoutStderr: true });
      expect(await exited(server.client, processHandle)).toEqual({ ...end, processHandle });
    }
    const kinds = server.client.messages.flatMap(({ method, result }) =>
      method?.startsWith('process/') ? [method] : JSON.stringify(result) === '{}' ? ['answer'] : [],
    );
    expect(kinds).toEqual(
      Array.from({ length: 20 }, () => ['answer', 'process/outputDelta', 'process/exited']).flat(),
    );
  });

  test('runs outside the sandbox, whatever is configured', async () => {
    const server = await startServer();
    await spawn(server, 'touch made && ls');
    expect(await exited(server.client)).toEqual({ ...end, stdout: 'made\n' });
  });

  test('truncates output at the cap; null means no cap', async () => {
    const server = await startServer();
    await spawn(server, 'printf 0123456789', { outputBytesCap: 4 });
    expect(await exited(server.client)).toEqual({ ...end, stdout: '0123', stdoutCapReached: true });
    for (const [processHandle, outputBytesCap, length] of [
      ['a', undefined, 1_048_576],
      ['b', null, 3_000_000],
    ] as const) {
      await spawn(server, 'head -c 3000000 /dev/zero', {
        processHandle,
        ...(outputBytesCap === null ? { outputBytesCap } : {}),
      });
      expect((await exited(server.client, processHandle)).stdout.length).toBe(length);
    }
  });

  test('kills the process after the timeout; null means no timeout', async () => {
    const server = await startServer();
    const sleep = uniqueSleep();
    await spawn(server, `echo up; ${sleep}`, {
      streamStdoutStderr: true,
      processHandle: 'kept',
      timeoutMs: null,
    });
    await spawn(server, `echo up; ${sleep}`, { streamStdoutStderr: true });
    await server.client.waitFor(
      'process/outputDelta',
      ({ processHandle }) => processHandle === 'h',
    );
    server.clock.advance(10_000);
    expect(await exited(server.client)).toEqual({ ...end, exitCode: 124 });
    await server.client.request('process/kill', { processHandle: 'kept' });
    expect(await exited(server.client, 'kept')).toEqual({
      ...end,
      processHandle: 'kept',
      exitCode: 137,
    });
    expect(livingWith(sleep)).toEqual([]);
  });

  test('says so if another process holds its output open', async () => {
    const server = await startServer();
    await spawn(server, `${uniqueSleep()} & echo done`);
    expect(await exited(server.client)).toEqual({
      ...end,
      stdout: 'done\n',
      outputDrainTimedOut: true,
    });
  });

  test('takes input, and runs in a terminal', async () => {
    const server = await startServer();
    const { client } = server;
    await spawn(server, 'cat', { streamStdin: true });
    expect(
      await client.request('process/writeStdin', {
        processHandle: 'h',
        deltaBase64: base64('abc'),
        closeStdin: true,
      }),
    ).toEqual({});
    expect(await exited(client)).toEqual({ ...end, stdout: 'abc' });
    await spawn(server, 'read x; stty size', {
      tty: true,
      processHandle: 't',
      size: { rows: 20, cols: 30 },
    });
    expect(
      await client.request('process/resizePty', {
        processHandle: 't',
        size: { rows: 33, cols: 44 },
      }),
    ).toEqual({});
    await client.request('process/writeStdin', { processHandle: 't', deltaBase64: base64('\n') });
    expect(await exited(client, 't')).toEqual({ ...end, processHandle: 't' });
    expect(outputSoFar(client)).toBe('\r\n33 44\r\n');
  });

  test('refuses handles that are taken, empty or unknown, and commands that cannot be run', async () => {
    const server = await startServer();
    const { client, cwd } = server;
    await spawn(server, 'cat', { streamStdin: true });
    const params = { command: ['true'], cwd, processHandle: 'x' };
    expect(await client.refusal('process/spawn', { ...params, processHandle: 'h' })).toMatchObject({
      data: { code: 'process_id_taken' },
    });
    expect(await client.refusal('process/spawn', { ...params, processHandle: '' })).toMatchObject({
      data: { code: 'empty_process_handle' },
    });
    expect(await client.refusal('process/spawn', { ...params, command: [] })).toMatchObject({
      data: { code: 'empty_command' },
    });
    expect(await client.refusal('process/spawn', { ...params, cwd: 'here' })).toMatchObject({
      code: -32600,
    });
    expect(await client.refusal('process/spawn', { ...params, timeoutMs: -1 })).toMatchObject({
      code: -32602,
    });
    expect(
      await client.refusal('process/spawn', { ...params, command: ['no-such'] }),
    ).toMatchObject({
      code: -32603,
      data: { code: 'process_not_started' },
    });
    const unknown = {
      code: -32600,
      message: 'there is no active process handle "x"',
      data: { code: 'process_not_found' },
    };
    expect(await client.refusal('process/kill', { processHandle: 'x' })).toEqual(unknown);
    expect(
      await client.refusal('process/writeStdin', { processHandle: 'x', closeStdin: true }),
    ).toEqual(unknown);
    expect(
      await client.refusal('process/resizePty', { processHandle: 'x', size: { rows: 1, cols: 1 } }),
    ).toEqual(unknown);
    expect(
      await client.refusal('process/resizePty', { processHandle: 'h', size: { rows: 1, cols: 1 } }),
    ).toMatchObject({
      data: { code: 'no_terminal' },
    });
  });
});
