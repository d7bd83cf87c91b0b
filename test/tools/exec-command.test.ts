import { describe, expect, test } from 'vitest';
import { functionCall, response } from '../support/test-model.ts';
import {
  commandServer,
  completed,
  done,
  modelOutput,
  runs,
  says,
  THREAD,
} from './command-server.ts';

describe('a command', () => {
  test('has an item from its start to its end, and the model reads its output', async () => {
    const server = await commandServer([runs('echo out; echo err >&2; exit 3'), done]);
    const turn = await server.client.turn(THREAD, 'go');
    const item = {
      startedAtMs: expect.any(Number),
      completedAtMs: null,
      type: 'commandExecution',
      id: 'call_1',
      command: "/bin/sh -lc 'echo out; echo err >&2; exit 3'",
      cwd: server.cwd,
      processId: expect.stringMatching(/^\d+$/),
      source: 'unifiedExecStartup',
      status: 'inProgress',
      commandActions: [{ type: 'unknown', command: 'echo out; echo err >&2; exit 3' }],
      aggregatedOutput: null,
      exitCode: null,
      durationMs: null,
      pluginId: null,
      scriptPath: null,
    };
    const ended = {
      ...item,
      status: 'failed',
      completedAtMs: expect.any(Number),
      exitCode: 3,
      durationMs: 0,
      aggregatedOutput: expect.stringMatching(/^(out\nerr|err\nout)\n$/),
    };
    const ofCommand = ({ params }: { params?: unknown }) =>
      JSON.stringify(params).includes('call_1');
    const seen = server.client.messages
      .filter(({ method }) => method?.startsWith('item/'))
      .filter(ofCommand);
    expect([seen[0], seen.at(-1)]).toEqual([
      {
        method: 'item/started',
        params: { threadId: THREAD, turnId: turn.id, item, startedAtMs: expect.any(Number) },
      },
      {
        method: 'item/completed',
        params: {
          threadId: THREAD,
          turnId: turn.id,
          item: ended,
          completedAtMs: expect.any(Number),
        },
      },
    ]);
    expect(seen.slice(1, -1).map(({ params }) => params)).toEqual(
      seen.slice(1, -1).map(() => ({
        threadId: THREAD,
        turnId: turn.id,
        itemId: 'call_1',
        delta: expect.any(String),
      })),
    );
    expect(modelOutput(server)).toMatch(
      /^Wall time: 0\.0000 seconds\nProcess exited with code 3\nOriginal token count: 2\nOutput:\n(out\nerr|err\nout)\n$/,
    );
    const { thread } = await server.client.request('thread/read', {
      threadId: THREAD,
      includeTurns: true,
    });
    expect(thread.turns[0]?.items.filter(({ type }) => type === 'commandExecution')).toEqual([
      ended,
    ]);
  });

  test('whose output is split inside a character is decoded correctly', async () => {
    const server = await commandServer([
      runs("printf '\\342\\202'; printf '\\254'; printf '\\377'"),
      done,
    ]);
    await server.client.turn(THREAD, 'go');
    expect(completed(server)[0]).toMatchObject({ aggregatedOutput: '€\uFFFD' });
    const deltas = server.client
      .notifications('item/commandExecution/outputDelta')
      .map(({ delta }) => delta);
    expect(deltas.join('')).toBe('€\uFFFD');
  });

  test('runs in its workdir, relative to the working directory of the thread', async () => {
    const server = await commandServer([runs('pwd', { workdir: 'inner' }), done], {
      files: { 'work/inner/file': '' },
    });
    await server.client.turn(THREAD, 'go');
    expect(completed(server)[0]).toMatchObject({
      cwd: `${server.cwd}/inner`,
      aggregatedOutput: `${server.cwd}/inner\n`,
    });
  });

  test('with login false runs in a shell that reads no profile', async () => {
    const server = await commandServer([runs('true', { login: false }), done]);
    await server.client.turn(THREAD, 'go');
    expect(completed(server)[0]?.command).toBe('/bin/sh -c true');
  });

  test('has no terminal, no pager and no colours', async () => {
    const server = await commandServer([
      runs('test -t 1 || echo "$TERM $PAGER $NO_COLOR"; cat'),
      done,
    ]);
    await server.client.turn(THREAD, 'go');
    expect(completed(server)[0]?.aggregatedOutput).toBe('dumb cat 1\n');
  });

  test('runs beside another one', async () => {
    const both = response(
      functionCall('exec_command', { cmd: 'mkfifo p; cat p; echo one' }, { callId: 'a' }),
      functionCall(
        'exec_command',
        { cmd: 'while ! test -p p; do :; done; echo two > p' },
        { callId: 'b' },
      ),
    );
    const server = await commandServer([both, done]);
    await server.client.turn(THREAD, 'go');
    expect(completed(server)).toContainEqual(
      expect.objectContaining({ id: 'a', status: 'completed', aggregatedOutput: 'two\none\n' }),
    );
    expect(completed(server)).toContainEqual(
      expect.objectContaining({ id: 'b', status: 'completed', aggregatedOutput: null }),
    );
  });

  test('with the call id of an earlier one has its own item id', async () => {
    const server = await commandServer([runs('echo 1'), runs('echo 2'), done]);
    await server.client.turn(THREAD, 'go');
    const [first, second] = completed(server);
    expect([first?.id, second?.id === first?.id]).toEqual(['call_1', false]);
    const { data } = await server.client.request('thread/items/list', { threadId: THREAD });
    const commands = data.flatMap(({ item }) =>
      item.type === 'commandExecution' ? [item.aggregatedOutput] : [],
    );
    expect(commands).toEqual(['1\n', '2\n']);
  });
});

describe('other names of the tool', () => {
  test.each([
    ['shell_command', { command: 'echo hi' }, "/bin/sh -lc 'echo hi'"],
    ['shell', { command: ['echo', 'hi'] }, 'echo hi'],
    ['container.exec', { command: ['sh', '-c', 'echo hi'] }, "sh -c 'echo hi'"],
  ])('%s runs a command, and is not offered', async (name, args, command) => {
    const server = await commandServer([response(functionCall(name, args)), done]);
    await server.client.turn(THREAD, 'go');
    expect(server.model.request(1).tools.map((tool) => tool.name)).not.toContain(name);
    expect(completed(server)[0]).toMatchObject({
      command,
      source: 'agent',
      processId: null,
      status: 'completed',
      aggregatedOutput: 'hi\n',
    });
  });

  test('a local_shell_call is answered like a function call', async () => {
    const action = {
      type: 'exec' as const,
      command: ['sh', '-c', 'pwd; echo hi'],
      working_directory: '/',
      timeout_ms: 5_000,
    };
    const call = {
      type: 'local_shell_call' as const,
      call_id: 'call_1',
      status: 'completed' as const,
      action,
    };
    const server = await commandServer([response([{ type: 'itemCompleted', item: call }]), done]);
    await server.client.turn(THREAD, 'go');
    expect(completed(server)).toMatchObject([
      { id: 'call_1', cwd: '/', status: 'completed', aggregatedOutput: '/\nhi\n' },
    ]);
    expect(modelOutput(server)).toContain('\nProcess exited with code 0\n');
    expect(server.model.request(2).input).toContainEqual(call);
  });

  test('a command over its timeout is killed, and the model is told', async () => {
    const server = await commandServer([
      response(
        functionCall('shell', {
          command: ['sh', '-c', 'echo up; exec sleep 1000'],
          timeout_ms: 700,
        }),
      ),
      done,
    ]);
    const turn = server.client.turn(THREAD, 'go');
    await says(server, 'up');
    await server.clock.timerOf(700);
    server.clock.advance(700);
    await turn;
    expect(completed(server)[0]).toMatchObject({
      status: 'failed',
      exitCode: 124,
      aggregatedOutput: 'up\n',
    });
    expect(modelOutput(server)).toContain('Process killed: it timed out after 700 ms\n');
  });
});

describe('invalid arguments are reported to the model, without an item', () => {
  test.each([
    [{}, '`cmd` is missing: pass the command as a string.'],
    [{ cmd: 5 }, '`cmd` must be a string.'],
    [
      { cmd: 'ls', workdir: 'nowhere' },
      expect.stringMatching(/^`workdir`: .*\/work\/nowhere is not an existing directory\.$/),
    ],
    [
      { cmd: 'ls', workdir: 'x'.repeat(300) },
      expect.stringMatching(/^`workdir`: .*\/x{300} is not an existing directory\.$/),
    ],
    [{ cmd: 'ls', shell: 'python' }, '`shell`: python is not available; use bash, zsh or sh.'],
    [{ cmd: 'ls', shell: './bash' }, '`shell`: ./bash is not available; use bash, zsh or sh.'],
    [{ cmd: 'a\0b' }, 'the command and `workdir` must not contain NUL characters.'],
    [{ cmd: 'ls', yield_time_ms: 'soon' }, '`yield_time_ms` must be a number.'],
    [{ cmd: 'ls', tty: 1 }, '`tty` must be true or false.'],
    [{ cmd: 'ls', prefix_rule: ['a', 1] }, '`prefix_rule` must be a list of strings.'],
    [
      { cmd: 'ls', sandbox_permissions: 'all' },
      '`sandbox_permissions` must be "use_default" or "require_escalated".',
    ],
  ])('%o', async (args, problem) => {
    const server = await commandServer([response(functionCall('exec_command', args)), done]);
    await server.client.turn(THREAD, 'go');
    expect(modelOutput(server).replace('exec_command: ', '')).toEqual(problem);
    expect(completed(server)).toEqual([]);
  });

  test('a login shell that the configuration does not allow', async () => {
    const server = await commandServer([runs('ls', { login: true }), done], {
      overrides: ['allow_login_shell=false'],
    });
    await server.client.turn(THREAD, 'go');
    expect(modelOutput(server)).toBe(
      'exec_command: `login`: the configuration does not allow login shells (allow_login_shell).',
    );
  });

  test('any call if features.shell_tool is false', async () => {
    const server = await commandServer([runs('ls'), done], {
      overrides: ['features.shell_tool=false'],
    });
    await server.client.turn(THREAD, 'go');
    expect(modelOutput(server)).toMatch(/^There is no tool named exec_command\./);
  });
});

describe('much output', () => {
  test('is sent in full to a client that reads, and stored without its middle', async () => {
    const server = await commandServer([runs('seq 1 300000', { yield_time_ms: 30_000 }), done]);
    const turn = server.client.turn(THREAD, 'go');
    await says(server, '\n');
    expect(await server.client.request('thread/loaded/list', {})).toMatchObject({ data: [THREAD] });
    await turn;
    const all = Array.from({ length: 300_000 }, (_, index) => `${index + 1}\n`).join('');
    const deltas = server.client
      .notifications('item/commandExecution/outputDelta')
      .map(({ delta }) => delta);
    expect(deltas.join('') === all).toBe(true);
    const kept = completed(server)[0]?.aggregatedOutput ?? '';
    const [head = '', , tail = ''] = kept.split(/\n\[… (\d+) characters of output truncated …\]\n/);
    expect([all.startsWith(head), all.endsWith(tail), head.length, tail.length]).toEqual([
      true,
      true,
      524_288,
      524_288,
    ]);
    expect(modelOutput(server)).toMatch(
      /Original token count: 497224\nTotal output lines: 300000\nOutput:\n1\n2\n/,
    );
    expect(modelOutput(server)).toMatch(/\n\[… about \d+ tokens truncated …\]\n/);
    expect(modelOutput(server).length).toBeLessThan(10_300);
  });

  test('is truncated to what the model asks for, and to the limit of the configuration', async () => {
    const calls = [
      runs('seq 1 9000', { max_output_tokens: 100 }),
      runs('seq 1 9000', { max_output_tokens: 1_000_000 }, 'call_2'),
      done,
    ];
    const server = await commandServer(calls, { overrides: ['tool_output_token_limit=500'] });
    await server.client.turn(THREAD, 'go');
    expect(modelOutput(server).length).toBeLessThan(700);
    expect(modelOutput(server, 'call_2').length).toBeGreaterThan(1_900);
    expect(modelOutput(server, 'call_2').length).toBeLessThan(2_300);
  });
});

describe('an interrupt', () => {
  test('kills the running command, and its item completes before the turn', async () => {
    const server = await commandServer([runs('echo $$; exec sleep 1000')]);
    const { turn } = await server.client.request('turn/start', {
      threadId: THREAD,
      input: [{ type: 'text', text: 'go', text_elements: [] }],
    });
    await says(server, '\n');
    await server.client.request('turn/interrupt', { threadId: THREAD, turnId: turn.id });
    const end = await server.client.waitFor('turn/completed');
    expect(end.turn.status).toBe('interrupted');
    const [item] = completed(server);
    expect(item).toMatchObject({
      status: 'failed',
      exitCode: 137,
      aggregatedOutput: expect.stringMatching(/^\d+\n$/),
    });
    const pid = Number(item?.aggregatedOutput);
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    const at = (method: string) =>
      server.client.messages.findLastIndex((message) => message.method === method);
    expect(at('item/completed')).toBeLessThan(at('turn/completed'));
  });

  test('does not wait for a client that does not read the output', async () => {
    const server = await commandServer([runs('exec yes')]);
    const deaf = await server.connect({ reading: false, handshake: false });
    const hello = { clientInfo: { name: 'deaf', version: '1' }, capabilities: null };
    deaf.send(JSON.stringify({ id: 1, method: 'initialize', params: hello }));
    deaf.send(JSON.stringify({ id: 2, method: 'thread/resume', params: { threadId: THREAD } }));
    const { turn } = await server.client.request('turn/start', {
      threadId: THREAD,
      input: [{ type: 'text', text: 'go', text_elements: [] }],
    });
    await says(server, 'y');
    await server.client.request('turn/interrupt', { threadId: THREAD, turnId: turn.id });
    expect((await server.client.waitFor('turn/completed')).turn.status).toBe('interrupted');
    expect(completed(server)).toMatchObject([{ status: 'failed', exitCode: 137 }]);
  });
});
