import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { CommandExecParams } from '../../src/protocol/generated/types.ts';
import { livingWith, uniqueSleep } from '../sandbox/living-with.ts';
import { base64 } from '../support/base64.ts';
import type { TestClient } from '../support/test-client.ts';
import { startServer } from '../support/test-server.ts';

const CONFIG = `model = "m"
model_provider = "p"
sandbox_mode = "danger-full-access"
[model_providers.p]
base_url = "http://127.0.0.1:9"
env_key = "P_AUTH"
`;

function run(client: TestClient, script: string, params: Partial<CommandExecParams> = {}) {
  return client.request('command/exec', { command: ['sh', '-c', script], ...params });
}

/** The announced output of a process so far. */
function outputSoFar(client: TestClient, stream: 'stdout' | 'stderr', processId = 'p'): string {
  const deltas = client.notifications(
    'command/exec/outputDelta',
    (delta) => delta.processId === processId && delta.stream === stream,
  );
  return Buffer.concat(
    deltas.map(({ deltaBase64 }) => Buffer.from(deltaBase64, 'base64')),
  ).toString();
}

const says = (client: TestClient, text: string) =>
  client.waitFor('command/exec/outputDelta', () => outputSoFar(client, 'stdout').includes(text));

describe('command/exec', () => {
  test('returns the exit code and both streams, and runs in the working directory of the server', async () => {
    const { client, cwd } = await startServer({ config: CONFIG });
    expect(await run(client, 'pwd -P; echo err >&2; exit 3')).toEqual({
      exitCode: 3,
      stdout: `${cwd}\n`,
      stderr: 'err\n',
    });
    expect(await run(client, 'pwd -P', { cwd: '..' })).toEqual({
      exitCode: 0,
      stdout: `${join(cwd, '..')}\n`,
      stderr: '',
    });
    expect(await run(client, 'kill -TERM $$')).toEqual({ exitCode: 143, stdout: '', stderr: '' });
    expect(await run(client, 'cat; printf "a\\377b"')).toEqual({
      exitCode: 0,
      stdout: 'a\u{fffd}b',
      stderr: '',
    });
  });

  test('sets and removes variables, and does not get the keys of providers', async () => {
    const env = { P_AUTH: 'sk-1', OTHER_API_KEY: 'sk-2', GONE: 'x', KEPT: 'k' };
    const { client } = await startServer({ config: CONFIG, env });
    const { stdout } = await run(client, 'echo "$SET-$GONE-$KEPT-$P_AUTH-$OTHER_API_KEY"', {
      env: { SET: 's', GONE: null },
    });
    expect(stdout).toBe('s--k--\n');
  });

  test('refuses commands that cannot be run, and says why', async () => {
    const { client, cwd } = await startServer({ config: CONFIG });
    const refusal = (params: CommandExecParams) => client.refusal('command/exec', params);
    const notStarted = (message: string) => ({
      code: -32603,
      message,
      data: { code: 'process_not_started' },
    });
    expect(await refusal({ command: [] })).toEqual({
      code: -32600,
      message: 'command must not be empty',
      data: { code: 'empty_command' },
    });
    expect(await refusal({ command: ['no-such'] })).toEqual(
      notStarted('cannot run no-such: No such file or directory in PATH=/usr/bin:/bin'),
    );
    expect(await refusal({ command: ['./no'] })).toEqual(
      notStarted('cannot run ./no: No such file or directory'),
    );
    expect(await refusal({ command: ['/etc/passwd'] })).toEqual(
      notStarted('cannot run /etc/passwd: Permission denied'),
    );
    expect(await refusal({ command: ['true'], cwd: 'no' })).toEqual(
      notStarted(`cannot run in ${join(cwd, 'no')}: No such file or directory`),
    );
    expect(await refusal({ command: ['true', 'a\0b'] })).toMatchObject({
      code: -32603,
      data: { code: 'process_not_started' },
    });
  });

  test('refuses params that contradict each other', async () => {
    const { client } = await startServer({ config: CONFIG });
    const contradictory: Partial<CommandExecParams>[] = [
      { timeoutMs: 1, disableTimeout: true },
      { timeoutMs: -1 },
      { outputBytesCap: 1, disableOutputCap: true },
      { size: { rows: 1, cols: 1 } },
      { size: { rows: 0, cols: 1 }, tty: true, processId: 'p' },
      { env: { 'A=B': 'x' } },
    ];
    for (const params of contradictory)
      expect(await client.refusal('command/exec', { command: ['true'], ...params })).toMatchObject({
        code: -32602,
        data: { code: 'invalid_params' },
      });
    for (const params of [{ tty: true }, { streamStdin: true }, { streamStdoutStderr: true }])
      expect(await client.refusal('command/exec', { command: ['true'], ...params })).toMatchObject({
        code: -32600,
        data: { code: 'process_id_required' },
      });
  });

  test('refuses two sandbox policies at once, and a relative path', async () => {
    const { client } = await startServer({ config: CONFIG });
    const refusal = (params: Partial<CommandExecParams>) =>
      client.refusal('command/exec', { command: ['true'], ...params });
    const invalid = (message: string) => ({
      code: -32600,
      message,
      data: { code: 'invalid_params' },
    });
    const twice = invalid('`permissionProfile` cannot be combined with `sandboxPolicy`');
    expect(
      await refusal({ permissionProfile: ':workspace', sandboxPolicy: { type: 'readOnly' } }),
    ).toEqual(twice);
    expect(
      await refusal({
        permissionProfile: { type: 'disabled' },
        sandboxPolicy: { type: 'readOnly' },
      }),
    ).toEqual(twice);
    expect(
      await refusal({ sandboxPolicy: { type: 'workspaceWrite', writableRoots: ['rel'] } }),
    ).toEqual(invalid('params.sandboxPolicy.writableRoots[0]: "rel" is not an absolute path'));
  });

  test('kills a command and its descendants after the timeout, with exit code 124', async () => {
    const { client, clock } = await startServer({ config: CONFIG });
    const sleep = uniqueSleep();
    const end = run(client, `echo before; setsid ${sleep} & wait`, {
      timeoutMs: 60_000,
      processId: 'p',
      streamStdoutStderr: true,
    });
    await says(client, 'before');
    clock.advance(60_000);
    expect(await end).toEqual({ exitCode: 124, stdout: '', stderr: '' });
    expect(livingWith(sleep)).toEqual([]);
  });

  test('responds when the program has ended, even if another process holds its output open', async () => {
    const { client } = await startServer({ config: CONFIG });
    const sleep = uniqueSleep();
    expect(await run(client, `${sleep} & echo done`)).toEqual({
      exitCode: 0,
      stdout: 'done\n',
      stderr: '',
    });
    await expect.poll(() => livingWith(sleep)).toEqual([sleep]);
  });

  test('truncates each stream at its cap, and not inside a character', async () => {
    const { client } = await startServer({ config: CONFIG });
    expect(
      await run(client, 'printf 0123456789äx; printf ABCDEFGHIJKLM >&2', { outputBytesCap: 11 }),
    ).toEqual({
      exitCode: 0,
      stdout: '0123456789',
      stderr: 'ABCDEFGHIJK',
    });
    await run(client, 'printf 0123456789; printf e >&2', {
      outputBytesCap: 10,
      processId: 'p',
      streamStdoutStderr: true,
    });
    const deltas = client
      .notifications('command/exec/outputDelta')
      .sort((a, b) => a.stream.localeCompare(b.stream));
    expect(deltas).toEqual([
      { processId: 'p', stream: 'stderr', deltaBase64: base64('e'), capReached: false },
      { processId: 'p', stream: 'stdout', deltaBase64: base64('0123456789'), capReached: true },
    ]);
  });

  test('takes input and streams its output, with all deltas before the response', async () => {
    const { client, cwd } = await startServer({ config: CONFIG });
    const gate = join(cwd, 'gate');
    const script = `cat; while [ ! -e '${gate}' ]; do sleep 0.02; done; echo done`;
    const end = run(client, script, {
      processId: 'p',
      streamStdin: true,
      streamStdoutStderr: true,
    });
    expect(
      await client.request('command/exec/write', { processId: 'p', deltaBase64: base64('one\n') }),
    ).toEqual({});
    await says(client, 'one\n');
    await client.request('command/exec/write', {
      processId: 'p',
      deltaBase64: base64('two\n'),
      closeStdin: true,
    });
    expect(
      await client.refusal('command/exec/write', { processId: 'p', deltaBase64: base64('x') }),
    ).toMatchObject({ code: -32600 });
    expect(
      await client.request('command/exec/write', { processId: 'p', closeStdin: true }),
    ).toEqual({});
    writeFileSync(gate, '');
    expect(await end).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    expect(outputSoFar(client, 'stdout')).toBe('one\ntwo\ndone\n');
    const last = client.messages.findLastIndex(
      ({ method }) => method === 'command/exec/outputDelta',
    );
    expect(last).toBeLessThan(
      client.messages.findIndex(
        ({ result }) => typeof result === 'object' && result !== null && 'exitCode' in result,
      ),
    );
  });

  test('runs in a terminal, which takes input and can be resized', async () => {
    const { client } = await startServer({ config: CONFIG });
    const end = run(client, 'test -t 0 && stty size; read x; stty size; echo "got $x"', {
      processId: 'p',
      tty: true,
      size: { rows: 20, cols: 90 },
    });
    await says(client, '20 90');
    expect(
      await client.request('command/exec/resize', { processId: 'p', size: { rows: 33, cols: 44 } }),
    ).toEqual({});
    await client.request('command/exec/write', { processId: 'p', deltaBase64: base64('hey\n') });
    expect(await end).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    expect(outputSoFar(client, 'stdout')).toBe('20 90\r\nhey\r\n33 44\r\ngot hey\r\n');
  });

  test('has a name while it runs', async () => {
    const { client, connect } = await startServer({ config: CONFIG });
    const end = run(client, 'echo up; sleep 1000', { processId: 'p', streamStdoutStderr: true });
    await says(client, 'up');
    expect(await client.refusal('command/exec', { command: ['true'], processId: 'p' })).toEqual({
      code: -32600,
      message: 'duplicate active process id: "p"',
      data: { code: 'process_id_taken' },
    });
    const other = await connect();
    expect(await run(other, 'true', { processId: 'p' })).toMatchObject({ exitCode: 0 });
    const unknown = {
      code: -32600,
      message: 'there is no active process id "p"',
      data: { code: 'process_not_found' },
    };
    expect(await other.refusal('command/exec/terminate', { processId: 'p' })).toEqual(unknown);
    expect(
      await other.refusal('command/exec/resize', { processId: 'p', size: { rows: 1, cols: 1 } }),
    ).toEqual(unknown);
    expect(await other.refusal('command/exec/write', { processId: 'p', closeStdin: true })).toEqual(
      unknown,
    );
    expect(
      await client.refusal('command/exec/write', { processId: 'p', deltaBase64: '' }),
    ).toMatchObject({
      data: { code: 'stdin_not_streamed' },
    });
    expect(await client.refusal('command/exec/write', { processId: 'p' })).toMatchObject({
      code: -32602,
    });
    for (const deltaBase64 of ['*', 'eA']) {
      expect(
        await client.refusal('command/exec/write', { processId: 'p', deltaBase64 }),
      ).toMatchObject({ code: -32602 });
    }
    expect(
      await client.refusal('command/exec/resize', { processId: 'p', size: { rows: 1, cols: 1 } }),
    ).toMatchObject({
      data: { code: 'no_terminal' },
    });
    expect(await client.request('command/exec/terminate', { processId: 'p' })).toEqual({});
    expect(await end).toEqual({ exitCode: 137, stdout: '', stderr: '' });
    expect(await run(client, 'true', { processId: 'p' })).toMatchObject({ exitCode: 0 });
  });

  test('ends with its connection, like the processes that outlived it', async () => {
    const { connect, clock } = await startServer({ config: CONFIG });
    const client = await connect();
    const [first, second] = [uniqueSleep(), uniqueSleep()];
    await run(client, `setsid ${first} >/dev/null 2>&1 &`);
    run(client, `echo up; ${second}`, {
      processId: 'p',
      streamStdoutStderr: true,
      disableTimeout: true,
    }).catch(() => {});
    await says(client, 'up');
    // The shell has ended, but what it left in the background may not have started `sleep`.
    await expect.poll(() => [...livingWith(first), ...livingWith(second)]).toEqual([first, second]);
    client.input.end();
    await expect
      .poll(() => {
        // A part of the time that a client has to read its last responses.
        clock.advance(100);
        return [...livingWith(first), ...livingWith(second)];
      })
      .toEqual([]);
  });

  test('is paused while its client does not read', async () => {
    const { client, connect } = await startServer({ config: CONFIG });
    const slow = await connect({ reading: false, handshake: false });
    slow.send(
      JSON.stringify({
        id: 'i',
        method: 'initialize',
        params: { clientInfo: { name: 'slow', version: '1' } },
      }),
    );
    const params = {
      command: ['head', '-c', '100000000', '/dev/zero'],
      processId: 'p',
      streamStdoutStderr: true,
      disableOutputCap: true,
      disableTimeout: true,
    };
    slow.send(JSON.stringify({ id: 'x', method: 'command/exec', params }));
    await expect.poll(() => livingWith('head -c 100000000 /dev/zero').length).toBe(1);
    expect((await client.request('thread/loaded/list', {})).data).toEqual([]);
    expect(livingWith('head -c 100000000 /dev/zero').length).toBe(1);
    slow.read();
    const { result } = await slow.first('the answer', ({ id }) => id === 'x');
    expect(result).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    const sizes = slow
      .notifications('command/exec/outputDelta')
      .map(({ deltaBase64 }) => Buffer.byteLength(deltaBase64, 'base64'));
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(100_000_000);
  }, 60_000);
});
