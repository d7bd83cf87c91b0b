// @module-tag slow
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { methods } from '../../../src/protocol/generated/methods.ts';
import { writeFiles } from '../../config/temp-folder.ts';
import { exampleServer } from '../../mcp/mcp-thread.ts';
import { EXECUTABLE, environment, type Place } from '../support.ts';
import { scripted } from './scripted.ts';

const TOUCH = `turn/start input='call exec_command {"cmd": "touch made.txt"}'`;

interface RunOptions {
  where?: Place;
  args?: string[];
}

/** Sends these lines in a pipe. */
function wire(lines: readonly string[], { where = scripted(), args = [] }: RunOptions = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [EXECUTABLE, 'wire', ...args], {
    cwd: where.work,
    env: environment(where),
    encoding: 'utf8',
    input: lines.join('\n'),
    timeout: 60_000,
  });
  return { status, messages: messagesIn(stdout), stderr };
}

function start(where: Place, args: string[] = []): ChildProcess {
  const child = spawn(process.execPath, [EXECUTABLE, 'wire', ...args], {
    cwd: where.work,
    env: environment(where),
    stdio: 'pipe',
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

interface Message {
  id?: number;
  method?: string;
  params?: { delta?: string; turn?: { status: string }; item?: object };
  result?: Record<string, unknown>;
  error?: { code: number };
}

function messagesIn(text: string): Message[] {
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

const deltas = (messages: Message[]) => messages.flatMap(({ params }) => params?.delta ?? []);
const turns = (messages: Message[]) =>
  messages
    .flatMap(({ params }) => params?.turn?.status ?? [])
    .filter((status) => status !== 'inProgress');
const lost = (method: string, field: string, meant: string) =>
  `heddle: ${method} has no params.${field}: the server ignores it${meant === '' ? '' : `: did you mean ${meant}?`}\n`;

test('stdout has the messages of the server as they are on the wire, to the end of the turn', () => {
  const where = scripted();
  const { status, messages, stderr } = wire(
    ['# begin', '', 'thread/start', 'turn/start input="say hello"'],
    {
      where,
      args: ['--wire-log', 'wire.jsonl'],
    },
  );
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const log = readFileSync(join(where.work, 'wire.jsonl'), 'utf8').trimEnd().split('\n');
  const sent = log.map((line) => JSON.parse(line)).filter(({ direction }) => direction === 'out');
  expect(messages).toEqual(sent.map(({ message }) => message));
  expect(messages.slice(0, 2).map(({ id }) => id)).toEqual([1, 2]);
  expect(deltas(messages)).toEqual(['hello']);
  expect(messages.at(-1)).toMatchObject({
    method: 'turn/completed',
    params: { turn: { status: 'completed' } },
  });
});

test('the handshake can be done by hand', () => {
  const initialize = 'initialize clientInfo.name=mine clientInfo.version=1';
  expect(
    wire([initialize, 'initialized', 'thread/start', 'model/list']).messages.map(({ id }) => id),
  ).toEqual([1, 2, undefined, 3]);
  const refused = wire([initialize.replace('clientInfo.name=mine', ''), 'model/list']);
  expect(refused).toMatchObject({
    status: 1,
    messages: [
      { id: 1, error: { code: -32600 } },
      { id: 2, error: { code: -32600 } },
    ],
  });
});

test('a line that is wrong, an unknown name and a refusal are reported, and the others are sent', () => {
  const { status, messages, stderr } = wire([
    'thread/start aprovalPolicy=never sandbox=read-only zzzzzz=1',
    'thread/strat',
    'turn/start {"threadId": @thread}',
    'turn/start threadId=@thread2 input=x',
    'answer accept',
    '\u001b[2J',
    'thread/loaded/list',
  ]);
  expect(status).toBe(1);
  expect(stderr).toBe(
    [
      lost('thread/start', 'aprovalPolicy', 'approvalPolicy'),
      lost('thread/start', 'zzzzzz', ''),
      'heddle: the protocol has no method thread/strat: did you mean thread/start?\n',
      'heddle: line 3: params: it is not JSON: expected a value, at character 14\n',
      'heddle: line 4: @thread2: only 1 so far\n',
      'heddle: line 5: no request of the server is open\n',
      'heddle: line 6: expected a method or a command, found \\x1b[2J: help lists them\n',
    ].join(''),
  );
  expect(
    messages.filter(({ error }) => error !== undefined).map(({ error }) => error?.code),
  ).toEqual([-32600]);
  expect(messages.at(-1)).toMatchObject({ id: 4, result: { data: [expect.any(String)] } });
});

describe('a request of the server', () => {
  test.each([
    ['answer accept', true, 0],
    ['answer decision=decline', false, 0],
    ['{"result": {"decision": "accept"}}', true, 0],
    ['refuse no', false, 0],
  ])('is answered by %s', (answer, isMade) => {
    const where = scripted();
    const { status, messages, stderr } = wire(['thread/start', TOUCH, answer], { where });
    expect({ status, stderr, isMade: existsSync(join(where.work, 'made.txt')) }).toEqual({
      status: 0,
      stderr: '',
      isMade,
    });
    expect(turns(messages)).toEqual(['completed']);
  });

  test('is refused if no line answers it, at the end and while a line waits', () => {
    for (const lines of [[], ['wait', 'model/list']]) {
      const where = scripted();
      const { status, messages, stderr } = wire(['thread/start', TOUCH, ...lines], { where });
      expect({ status, isMade: existsSync(join(where.work, 'made.txt')) }).toEqual({
        status: 0,
        isMade: false,
      });
      expect(stderr).toMatch(
        /^heddle: no line answers item\/commandExecution\/requestApproval with id \d+: it is refused\n$/,
      );
      expect(turns(messages)).toEqual(['completed']);
    }
  });

  test('of an MCP server is answered while the response waits for it', () => {
    const asks = {
      method: 'elicitation/create',
      request: {
        message: 'Who?',
        requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
      },
    };
    const call = `mcpServer/tool/call server=ex tool=ask arguments=${JSON.stringify(asks)}`;
    const { status, messages } = wire(['thread/start', call, 'answer accept content.name=Ann'], {
      where: scripted(exampleServer()),
    });
    expect(status).toBe(0);
    expect(JSON.stringify(messages.at(-1)?.result)).toContain('Ann');
  });

  test('of the agent is answered by its questions', () => {
    const question = (id: string) => ({
      id,
      header: id,
      question: `${id}?`,
      options: [{ label: 'A', description: '' }],
    });
    const input = `call request_user_input ${JSON.stringify({ questions: [question('one'), question('two')] })}`;
    const where = scripted('[features]\ndefault_mode_request_user_input = true\n');
    const lines = [
      'thread/start',
      `turn/start input=${JSON.stringify(input)}`,
      'answer answers.one.answers=["A"] answers.two.answers=["other"]',
    ];
    const { status, messages, stderr } = wire(lines, { where });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(turns(messages)).toEqual(['completed']);
  });
});

test('a line waits for the responses before it, unless it says now; wait waits for notifications', () => {
  const where = scripted();
  const exec = 'command/exec command=["sleep","1000"] processId=p1';
  expect(
    wire([exec, 'now command/exec/terminate processId=p1', 'model/list'], { where }).messages.map(
      ({ id }) => id,
    ),
  ).toEqual([1, 3, 2, 4]);
  const { status, messages } = wire(
    ['thread/start', 'wait thread/started', 'turn/start input="say a"', 'wait', 'thread/read'],
    { where },
  );
  expect(status).toBe(0);
  expect(messages.at(-1)).toMatchObject({
    id: 4,
    result: { thread: { status: { type: 'idle' } } },
  });
});

/** Lines that start something, and the methods of the notifications that end it, in any order. */
const STARTED: [string, string[], string[]][] = [
  ['a turn', ['turn/start input="wait 50\\nsay a"'], ['turn/completed']],
  [
    'a compaction',
    ['turn/start input="say a"', 'thread/compact/start'],
    ['turn/completed', 'turn/completed'],
  ],
  ['a compaction of an idle thread', ['thread/compact/start'], ['turn/completed']],
  [
    'a compaction after a turn',
    ['turn/start input="wait 200"', 'now thread/compact/start'],
    ['turn/completed', 'turn/completed'],
  ],
  [
    'several compactions',
    [
      'turn/start input="wait 200"',
      'now thread/compact/start',
      'now thread/compact/start',
      'now thread/compact/start',
    ],
    ['turn/completed', 'turn/completed'],
  ],
  [
    'a compaction after a turn that is interrupted',
    [
      'turn/start input="wait 100000"',
      'skills/list',
      'now thread/compact/start',
      'now turn/interrupt',
    ],
    ['turn/completed', 'turn/completed'],
  ],
  ['a command', ['thread/shellCommand command="sleep 0.1"'], ['turn/completed']],
  [
    'a command in a turn',
    ['turn/start input="wait 200"', 'now thread/shellCommand command="echo a"'],
    ['turn/completed'],
  ],
  [
    'a review',
    ['review/start target.type=custom target.instructions="say ok"'],
    ['turn/completed'],
  ],
  [
    'a process',
    ['process/spawn processHandle=p command=["sleep","0.1"] cwd=/'],
    ['process/exited'],
  ],
  [
    'a login',
    ['account/login/start type=apiKey apiKey=key-of-nobody'],
    ['account/login/completed'],
  ],
  [
    'a search',
    [
      'fuzzyFileSearch/sessionStart sessionId=s roots=["/etc"]',
      'fuzzyFileSearch/sessionUpdate sessionId=s query=a',
    ],
    ['fuzzyFileSearch/sessionCompleted'],
  ],
  [
    'an import',
    ['externalAgentConfig/import migrationItems=[]'],
    ['externalAgentConfig/import/completed'],
  ],
];

test('wait waits for the end of all that the lines before have started', () => {
  // The responses to model/list divide the session.
  const { status, messages, stderr } = wire([
    'thread/start',
    ...STARTED.flatMap(([, lines]) => [...lines, 'wait', 'model/list']),
  ]);
  const ends: string[][] = [[]];
  for (const { method = '', result } of messages)
    if (Array.isArray(result?.data) && 'nextCursor' in result && method === '') ends.push([]);
    else if (STARTED.some(([, , ended]) => ended.includes(method))) ends.at(-1)?.push(method);
  expect({
    status,
    stderr,
    ends: STARTED.map(([name], index) => [name, ends[index]]),
    last: ends.at(-1),
  }).toEqual({
    ...{ status: 0, stderr: '', last: [] },
    ends: STARTED.map(([name, , ended]) => [name, ended]),
  });
});

test.each(STARTED.filter(([name]) => /several|process/.test(name)))(
  'the end of the input waits for %s',
  (_name, lines, ends) => {
    const { status, messages } = wire(['thread/start', ...lines]);
    expect({
      status,
      ended: messages.flatMap(({ method = '' }) => (ends.includes(method) ? [method] : [])),
    }).toEqual({
      status: 0,
      ended: ends,
    });
  },
);

test('every method of the protocol gets one response, and the session ends', () => {
  const names = Object.keys(methods).filter((method) => method !== 'initialize');
  const { status, messages, stderr } = wire([
    'thread/start',
    'turn/start input="say a"',
    ...names,
    'model/list',
  ]);
  const answered = messages.flatMap(({ id, method }) => (method === undefined ? [id] : []));
  expect(answered).toEqual(Array.from({ length: names.length + 4 }, (_, index) => index + 1));
  expect({ status, stderr }).toEqual({ status: 1, stderr: '' });
});

test('exit ends the lines, and a turn that fails gives the exit code 1', () => {
  const ended = wire(['model/list', 'exit', 'thread/start']);
  expect([ended.status, ended.messages.map(({ id }) => id)]).toEqual([0, [1, 2]]);
  const failed = wire(['thread/start', 'turn/start input="fail usageLimitExceeded"']);
  expect([failed.status, turns(failed.messages)]).toEqual([1, ['failed']]);
});

test('a long line, a line that is not UTF-8 and no line at all', () => {
  expect(wire([])).toEqual({ status: 0, messages: [], stderr: '' });
  const text = 'x'.repeat(2_000_000);
  const { status, messages } = wire([
    'thread/start',
    `thread/name/set name=${JSON.stringify(text)}`,
  ]);
  expect([status, messages.find(({ id }) => id === 3)?.error?.code]).toEqual([1, -32600]);
  const where = scripted();
  writeFiles(where.work, { 'lines.txt': Buffer.from([0x61, 0xff, 0x0a, 0x23, 0x0a]) });
  expect(wire([], { where, args: ['--replay', 'lines.txt'] })).toEqual({
    status: 1,
    messages: [],
    stderr: 'heddle: line 1: it is not UTF-8\n',
  });
});

describe('--save and --replay', () => {
  test('a session is saved with references in place of ids, and can be sent again', () => {
    const where = scripted();
    const lines = [
      'thread/start',
      TOUCH,
      'answer accept',
      'wait',
      'thread/read includeTurns=true',
      'turn/start input="say two"',
      'now turn/interrupt',
    ];
    const first = wire(lines, { where, args: ['--save', 'saved.jsonl'] });
    const saved = messagesIn(readFileSync(join(where.work, 'saved.jsonl'), 'utf8'));
    expect(saved).toEqual([
      { method: 'thread/start', params: {} },
      {
        method: 'turn/start',
        params: { threadId: '@thread', input: [expect.objectContaining({ type: 'text' })] },
      },
      { result: { decision: 'accept' } },
      { wait: 'turn/completed' },
      { method: 'thread/read', params: { threadId: '@thread', includeTurns: true } },
      {
        method: 'turn/start',
        params: { threadId: '@thread', input: [{ type: 'text', text: 'say two' }] },
      },
      { method: 'turn/interrupt', params: { threadId: '@thread', turnId: '@turn' }, now: true },
    ]);
    expect(statSync(join(where.work, 'saved.jsonl')).mode & 0o777).toBe(0o600);
    const again = wire(['model/list'], {
      where,
      args: ['--replay', 'saved.jsonl', '--save', 'again.jsonl'],
    });
    const ids = (messages: Message[]) =>
      messages.flatMap(({ id, method }) => (method === undefined ? [id] : []));
    expect(ids(again.messages)).toEqual([...ids(first.messages), 7]);
    expect(messagesIn(readFileSync(join(where.work, 'again.jsonl'), 'utf8')).slice(0, -1)).toEqual(
      saved,
    );
    expect(existsSync(join(where.work, 'made.txt'))).toBe(true);
  });

  test('an id that was typed becomes a reference', () => {
    const where = scripted();
    const threadId = '01900000-0000-7000-8000-000000000000';
    wire([`thread/name/set threadId=${threadId} name=a`], { where, args: ['--save', 'a.jsonl'] });
    expect(messagesIn(readFileSync(join(where.work, 'a.jsonl'), 'utf8'))).toEqual([
      { method: 'thread/name/set', params: { threadId, name: 'a' } },
    ]);
  });

  test.each([
    [['--replay', 'none.txt'], '--replay none.txt: the file cannot be read: it does not exist'],
    [['--replay', '.'], '--replay .: the file cannot be read: '],
    [
      ['--save', 'there.txt'],
      '--save there.txt: the file cannot be created: it exists already: choose another name',
    ],
    [
      ['--save', 'none/a.txt'],
      '--save none/a.txt: the file cannot be created: the folder does not exist',
    ],
    [['--save', ''], '--save requires a value, found an empty string (see "heddle help wire")'],
    [['lines'], 'wire: unexpected \'lines\' (see "heddle help wire")'],
    [
      ['--approve', 'accept'],
      '--approve cannot be used with wire, only with exec (see "heddle help wire")',
    ],
    [['-C', 'none'], '-C none: the folder does not exist'],
  ])('%j is refused before anything starts', (args, problem) => {
    const where = scripted();
    writeFiles(where.work, { 'there.txt': 'mine' });
    expect(wire(['model/list'], { where, args })).toEqual({
      status: 2,
      messages: [],
      stderr: expect.stringContaining(`heddle: ${problem}`),
    });
    expect(readFileSync(join(where.work, 'there.txt'), 'utf8')).toBe('mine');
  });
});

describe('the end', () => {
  test('a reader that goes away ends it quietly', async () => {
    const child = start(scripted());
    let stderr = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.stdout?.once('data', () => child.stdout?.destroy());
    child.stdin?.write('thread/start\nturn/start input="repeat 100000 word\\nwait 100000"\n');
    expect([await once(child, 'close'), stderr]).toEqual([[141, null], '']);
  });

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('%s interrupts the turn and ends the session', async (signal, code) => {
    const child = start(scripted());
    let stdout = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      if (text.includes('"turn/started"')) child.kill(signal);
    });
    child.stderr?.resume();
    child.stdin?.write('thread/start\nturn/start input="wait 100000"\nwait\n');
    expect(await once(child, 'close')).toEqual([code, null]);
    expect(stdout).toContain('"turn/started"');
  });
});
