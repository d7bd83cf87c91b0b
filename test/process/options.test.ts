// @module-tag slow
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { jsonLines } from '../support/json-lines.ts';
import { EXECUTABLE, environment, type Place, place, startHeddle } from './support.ts';

const FIRST_THREAD = '019b76da-a800-7000-8000-000000000001';

interface Message {
  id?: number;
  method?: string;
  params?: {
    thread?: { id: string };
    turn?: { status: string };
    item?: { type: string; text?: string };
  };
  result?: unknown;
}

/** Runs the server to its end on an input that is all there from the start. */
function run(
  args: string[],
  input: string,
  { where = place(), env = {} }: { where?: Place; env?: Record<string, string> } = {},
) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [EXECUTABLE, ...args], {
    cwd: where.work,
    env: { ...environment(where), ...env },
    encoding: 'utf8',
    input,
    timeout: 30_000,
  });
  return { status, stdout, stderr };
}

function lines(...messages: object[]): string {
  return messages.map((message) => `${JSON.stringify(message)}\n`).join('');
}

const handshake = {
  id: 1,
  method: 'initialize',
  params: { clientInfo: { name: 'script', version: '1' } },
};
const experimental = {
  ...handshake,
  params: { ...handshake.params, capabilities: { experimentalApi: true } },
};
const threadStart = { id: 2, method: 'thread/start', params: {} };

function turnStart(id: number, text: string): object {
  return {
    id,
    method: 'turn/start',
    params: { threadId: FIRST_THREAD, input: [{ type: 'text', text }] },
  };
}

function goalSet(id: number, threadId: string): object {
  return { id, method: 'thread/goal/set', params: { threadId, objective: 'all green' } };
}

const PLAN = { plan: { Look: 'in_progress' } };

/** A place with a script for the model, and what makes the server take it. */
function scripted(script: unknown[]): { where: Place; args: string[] } {
  const where = place({ 'talk.yaml': JSON.stringify(script) });
  return { where, args: ['--model-script', join(where.home, 'talk.yaml')] };
}

/** How the turns ended that the client was told of. */
function endsIn(stdout: string): (string | undefined)[] {
  return jsonLines<Message>(stdout).flatMap(({ method, params }) =>
    method === 'turn/completed' ? [params?.turn?.status] : [],
  );
}

describe('--framing content-length', () => {
  function framed(...messages: object[]): string {
    return messages
      .map((message) => JSON.stringify(message))
      .map((text) => `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`)
      .join('');
  }

  test('headers before what comes and before what goes', () => {
    const { status, stdout, stderr } = run(
      ['--framing', 'content-length'],
      framed({ ...handshake, id: 'é' }, { id: 2, method: 'thread/loaded/list', params: {} }),
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const [, length = '', rest = ''] = /^Content-Length: (\d+)\r\n\r\n(.*)$/s.exec(stdout) ?? [];
    const bytes = Buffer.from(rest);
    expect(JSON.parse(bytes.toString('utf8', 0, Number(length)))).toMatchObject({
      id: 'é',
      result: { protocolVersion: '0.169.0' },
    });
    expect(bytes.toString('utf8', Number(length))).toContain(
      '{"id":2,"result":{"data":[],"nextCursor":null}}',
    );
  });

  test('another one is refused', () => {
    const { status, stdout, stderr } = run(['--framing', 'netstring'], '');
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toBe(
      'heddle: --framing netstring: expected lines or content-length (see "heddle --help")\n',
    );
  });
});

describe('--drain', () => {
  async function turnThatWaits(args: string[]) {
    const heddle = await startHeddle(place(), { args });
    const { thread } = await heddle.request('thread/start', {});
    await heddle.request('turn/start', {
      threadId: thread.id,
      input: [{ type: 'text', text: 'say one\nwait 200\nsay two' }],
    });
    await heddle.waitFor('item/completed', ({ item }) => item.type === 'agentMessage');
    const { code } = await heddle.finish();
    return { code, ends: heddle.messages.filter(({ method }) => method === 'turn/completed') };
  }

  test('lets a running turn end after the input has, and tells of it', async () => {
    const { code, ends } = await turnThatWaits(['--drain']);
    expect({ code, ends }).toMatchObject({
      code: 0,
      ends: [{ params: { turn: { status: 'completed' } } }],
    });
  });

  test('lets the running turn towards a goal end, and no further one begins', async () => {
    const { where, args } = scripted([
      PLAN,
      { message: 'one two three', chunk: 4, delay: 50 },
      { reply: 'no', optional: true },
    ]);
    const heddle = await startHeddle(where, { args: ['--drain', ...args] });
    const { thread } = await heddle.request('thread/start', {});
    await heddle.request('thread/goal/set', { threadId: thread.id, objective: 'all green' });
    await heddle.waitFor('item/agentMessage/delta');
    await heddle.finish();
    const told = heddle.messages.filter(
      ({ method }) => method === 'turn/started' || method === 'turn/completed',
    );
    expect(told).toMatchObject([
      { method: 'turn/started' },
      { method: 'turn/completed', params: { turn: { status: 'completed' } } },
    ]);
    const read = {
      id: 2,
      method: 'thread/read',
      params: { threadId: thread.id, includeTurns: true },
    };
    const answer = jsonLines<Message>(run([], lines(handshake, read), { where }).stdout).find(
      ({ id }) => id === read.id,
    );
    expect(answer?.result).toMatchObject({ thread: { turns: [{ status: 'completed' }] } });
  });

  test('the first turn towards a goal, which is asked for, is begun where the input ends at once, too', () => {
    const { where, args } = scripted([PLAN, 'one', PLAN, 'never']);
    const begun = jsonLines<Message>(run(args, lines(experimental, threadStart), { where }).stdout);
    const [threadId = ''] = begun.flatMap(({ method, params }) =>
      method === 'thread/started' ? [params?.thread?.id] : [],
    );
    const resume = { id: 2, method: 'thread/resume', params: { threadId } };
    const { stdout } = run(
      ['--drain', ...args],
      lines(experimental, resume, goalSet(3, threadId)),
      { where },
    );
    expect(endsIn(stdout)).toEqual(['completed']);
  });

  test('without it the end of the input is the end', async () => {
    expect(await turnThatWaits([])).toEqual({ code: 0, ends: [] });
  });
});

describe('--deterministic', () => {
  const script = lines(
    handshake,
    threadStart,
    turnStart(3, 'think hard\nsay hello\nwait 60000\nsay bye'),
    turnStart(4, 'say again'),
    { id: 5, method: 'thread/fork', params: { threadId: FIRST_THREAD } },
    { id: 6, method: 'thread/list', params: {} },
  );

  test('the same bytes each time, however the input comes, with no time passing', {
    tags: 'slow',
  }, async () => {
    const where = place();
    const first = run(['--deterministic'], script, { where });
    expect(first).toMatchObject({ status: 0, stderr: '' });
    expect(run(['--deterministic'], script, { where })).toEqual(first);
    const slowly = await startHeddle(where, { args: ['--deterministic'], handshake: false });
    for (const line of script.split('\n').slice(0, -1)) {
      slowly.stdin.write(line.slice(0, 10));
      await slowly.atRest();
      slowly.stdin.write(`${line.slice(10)}\n`);
    }
    await slowly.finish();
    expect(slowly.lines).toEqual(first.stdout.trimEnd().split('\n'));
  });

  test('each request is taken up when what came before it is over', () => {
    const order = jsonLines<Message>(run(['--deterministic'], script).stdout).map(
      ({ id, method, params }) => id ?? `${method} ${params?.turn?.status ?? ''}`,
    );
    const told = order.filter(
      (entry) => typeof entry === 'number' || entry.startsWith('turn/completed'),
    );
    expect(told).toEqual([
      1,
      2,
      3,
      'turn/completed completed',
      4,
      'turn/completed completed',
      5,
      6,
    ]);
  });

  test('whatever provider a request names, and however it is defined', () => {
    const params = { modelProvider: 'real', config: { 'model_providers.real.base_url': 5 } };
    const messages = jsonLines<Message>(
      run(
        ['--deterministic'],
        lines(handshake, { ...threadStart, params }, turnStart(3, 'say yes')),
      ).stdout,
    );
    expect(messages.find(({ id }) => id === 2)?.result).toMatchObject({
      modelProvider: 'real',
      model: 'embedded',
    });
    expect(
      messages.find(
        ({ method, params: told }) => method === 'item/completed' && told?.item?.text === 'yes',
      ),
    ).toBeDefined();
  });

  test('a model script waits in made-up time', () => {
    const where = place();
    writeFileSync(join(where.work, 'talk.yaml'), '- [one, { wait: 3600000 }, two]\n');
    const { status, stdout } = run(
      ['--deterministic', '--model-script', 'talk.yaml'],
      lines(handshake, threadStart, turnStart(3, 'hi')),
      {
        where,
      },
    );
    const ends = jsonLines<Message>(stdout).filter(({ method }) => method === 'turn/completed');
    expect({ status, ends }).toMatchObject({
      status: 0,
      ends: [{ params: { turn: { status: 'completed', durationMs: 3_600_000 } } }],
    });
  });

  test('a turn that hangs does not hold up the end, with --drain either', () => {
    const where = place();
    writeFileSync(join(where.work, 'talk.yaml'), '- [one, { hang: true }]\n');
    const args = ['--deterministic', '--drain', '--model-script', 'talk.yaml'];
    const { status, stdout } = run(args, lines(handshake, threadStart, turnStart(3, 'hi')), {
      where,
    });
    const said = jsonLines<Message>(stdout).filter(
      ({ method, params }) => method === 'item/completed' && params?.item?.text === 'one',
    );
    expect({ status, said: said.length }).toEqual({ status: 0, said: 1 });
  });

  test.each([[[]], [['--drain']]])(
    'so is the end of the input: a goal is worked on to its end before (%j)',
    (more) => {
      const complete = { call: 'update_goal', arguments: { status: 'complete' } };
      const { where, args } = scripted([PLAN, { message: 'one', delay: 60_000 }, complete, 'done']);
      const input = lines(experimental, threadStart, goalSet(3, FIRST_THREAD));
      const { status, stdout } = run([...more, '--deterministic', ...args], input, { where });
      expect([status, endsIn(stdout)]).toEqual([0, ['completed', 'completed']]);
    },
  );

  test('what server/diagnostics tells of the process', () => {
    const input = lines(experimental, { id: 2, method: 'server/diagnostics', params: {} });
    expect(run(['--deterministic'], input).stdout).toContain(
      '"process":{"id":0,"residentMemoryBytes":null,',
    );
  });

  test('nothing is kept: not in the home, and not beside it', () => {
    const where = place();
    run(['--deterministic'], script, { where });
    expect([readdirSync(where.home), readdirSync(where.temp)]).toEqual([[], []]);
  });

  test('the embedded model answers, whatever the configuration says', () => {
    const where = place({
      'config.toml': 'model_provider = "x"\n[model_providers.x]\nbase_url = "http://127.0.0.1:9"\n',
    });
    const messages = jsonLines<Message>(
      run(['--deterministic'], script, { where, env: { OPENAI_API_KEY: 'unused-key' } }).stdout,
    );
    expect(
      messages
        .filter(({ method }) => method === 'turn/completed')
        .map(({ params }) => params?.turn?.status),
    ).toEqual(['completed', 'completed']);
  });
});

describe('logs', () => {
  const noMessage = '{"no":"message"}\n';

  test('--log-level wins over HEDDLE_LOG; off says nothing', () => {
    expect(run(['--log-level', 'off'], noMessage, { env: { HEDDLE_LOG: 'debug' } }).stderr).toBe(
      '',
    );
    expect(run([], noMessage).stderr).toContain('skipped an invalid JSON-RPC message');
    expect(run([], noMessage, { env: { HEDDLE_LOG: 'error' } }).stderr).toBe('');
  });

  test('an unknown level is refused as an option, and told as a variable', () => {
    expect(run(['--log-level', 'loud'], '')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('heddle: --log-level loud: expected off, error,'),
    });
    expect(run([], '', { env: { HEDDLE_LOG: 'loud' } }).stderr).toContain(
      'HEDDLE_LOG loud: expected off, error, warn, info or debug',
    );
  });

  test('--log-file takes the log, for its user alone, behind what is there', () => {
    const where = place();
    const file = join(where.temp, 'heddle.log');
    for (const _run of [1, 2])
      expect(run(['--log-file', file], noMessage, { where })).toMatchObject({
        status: 0,
        stderr: '',
      });
    expect(
      readFileSync(file, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).msg),
    ).toEqual(Array.from({ length: 2 }, () => 'skipped an invalid JSON-RPC message'));
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('--log-file and --wire-log go on in new files if theirs are moved away, without a signal; SIGHUP ends the server', async () => {
    const where = place();
    const [log, wire] = [join(where.temp, 'heddle.log'), join(where.temp, 'wire.jsonl')];
    const heddle = await startHeddle(where, { args: ['--log-file', log, '--wire-log', wire] });
    const badLine = async () => {
      heddle.send(noMessage.trim());
      await heddle.request('thread/loaded/list', {});
    };
    await badLine();
    for (const file of [log, wire]) renameSync(file, `${file}.1`);
    await badLine();
    const count = (file: string, words: string) =>
      readFileSync(file, 'utf8').split(words).length - 1;
    const counts = [`${log}.1`, log].map((file) => count(file, 'skipped an invalid'));
    const sent = [`${wire}.1`, wire].map((file) => [
      count(file, '"method":"initialize"'),
      count(file, '"method":"thread/loaded/list"'),
    ]);
    expect({ counts, sent }).toEqual({
      counts: [1, 1],
      sent: [
        [1, 1],
        [0, 1],
      ],
    });
    heddle.signal('SIGHUP');
    expect(await heddle.exit).toEqual({ code: 129, signal: null });
  });

  test.each(['--log-file', '--wire-log'])(
    '%s in a folder that is not there ends the start in a line',
    (option) => {
      const { status, stdout, stderr } = run([option, 'none/x.log'], '');
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
      expect(stderr).toBe(
        `heddle: ${option} none/x.log: the file cannot be opened: the folder does not exist\n`,
      );
    },
  );

  test('--wire-log has every message of both directions, without secrets', () => {
    const where = place();
    const file = join(where.temp, 'wire.jsonl');
    const secret = 'hunter2-hunter2';
    const config = { 'model_providers.x.experimental_bearer_token': secret };
    const input = lines(handshake, {
      ...threadStart,
      params: { config, developerInstructions: `the password is ${secret}` },
    });
    const { stdout } = run(['--deterministic', '--wire-log', file], input, {
      where,
      env: { SITE_PASSWORD: secret },
    });
    const entries: { direction: string; message: Message }[] = readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(
      entries.filter(({ direction }) => direction === 'in').map(({ message }) => message.id),
    ).toEqual([1, 2]);
    expect(
      entries.filter(({ direction }) => direction === 'out').map(({ message }) => message),
    ).toEqual(jsonLines<Message>(stdout));
    expect(readFileSync(file, 'utf8')).not.toContain(secret);
  });

  test.each(['warn', 'info'])('no prompt, answer or key is logged at %s', (level) => {
    const where = place();
    const prompt = 'a-prompt-that-nobody-logs';
    const { stderr } = run(
      ['--deterministic', '--log-level', level],
      lines(
        handshake,
        threadStart,
        turnStart(3, `say ${prompt}`),
        turnStart(4, `fail server_error ${prompt}`),
      ),
      {
        where,
        env: { OPENAI_API_KEY: 'a-key-that-nobody-logs' },
      },
    );
    expect(stderr).not.toContain('nobody-logs');
  });
});

describe('variables of the environment', () => {
  const KNOWN = 'heddle does not read this variable, but HEDDLE_HOME and HEDDLE_LOG';
  const CASES: [Record<string, string>, string[]][] = [
    [{}, []],
    [{ HEDDLE_LOG: 'off', HEDDLE_COMMAND: 'x' }, []],
    [
      { HEDDLE_LOG: 'wran' },
      ['HEDDLE_LOG wran: expected off, error, warn, info or debug: did you mean warn?'],
    ],
    [{ HEDDLE_HOEM: '/tmp' }, [`HEDDLE_HOEM: ${KNOWN}: did you mean HEDDLE_HOME?`]],
    [{ HEDDLE_LOG_LEVEL: 'info' }, [`HEDDLE_LOG_LEVEL: ${KNOWN}: did you mean HEDDLE_LOG?`]],
    [{ HEDDLE_DEBUG: '1' }, [`HEDDLE_DEBUG: ${KNOWN}`]],
    [{ HEDDLE_KEY: 'k' }, []],
    [
      { HEDDLE_HOME: '~/x' },
      ['HEDDLE_HOME ~/x: the shell has not replaced ~, so the home is a folder of this name'],
    ],
  ];
  const config =
    'model_provider = "embedded"\n[model_providers.own]\nbase_url = "http://127.0.0.1:9"\nenv_key = "HEDDLE_KEY"\n';

  test.each(CASES)('%j: the log has what is wrong', (env, problems) => {
    const { status, stderr } = run([], '', { where: place({ 'config.toml': config }), env });
    const logged = stderr
      .split('\n')
      .flatMap((line) => (line === '' ? [] : [JSON.parse(line).problem]));
    expect([status, logged]).toEqual([0, problems]);
  });

  test.each(CASES)('%j: other commands say what is wrong on stderr', (env, problems) => {
    const where = place({ 'config.toml': config });
    for (const args of [
      ['threads', 'list'],
      ['exec', '-c', 'model_provider=embedded', 'say hi'],
    ]) {
      const { status, stderr } = run(args, '', { where, env });
      expect([status, stderr.split('\n').filter((line) => line.startsWith('warning: '))]).toEqual([
        0,
        problems.map((problem) => `warning: ${problem}`),
      ]);
    }
  });

  test('a home that is a file is named', () => {
    const where = place({ file: '' });
    const home = join(where.home, 'file');
    const problems = run([], '', { where, env: { HEDDLE_HOME: home } })
      .stderr.split('\n')
      .map((line) => /"problem":"([^"]*)"/.exec(line)?.[1]);
    expect(problems[0]).toBe(`HEDDLE_HOME ${home}: it is not a folder`);
  });
});
