// @module-tag slow
import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { tempFolder } from '../config/temp-folder.ts';
import { jsonLines } from '../support/json-lines.ts';
import { EXECUTABLE, environment, patchPrompt, place } from './support.ts';

/**
 * `HEDDLE_DETERMINISTIC_RUNS=50` makes the long form of the comparison: so many runs, beside as
 * many processes that only compute.
 */
const RUNS = Number(process.env.HEDDLE_DETERMINISTIC_RUNS ?? 6);
const AT_ONCE = 6;
const RUN_MS_MAX = 300_000;

const FIRST_THREAD = id(1);

/** The ids of a deterministic server count up. */
function id(number: number): string {
  return `019b76da-a800-7000-8000-${number.toString(16).padStart(12, '0')}`;
}

function exec(cmd: string, more: object = {}): string {
  return `call exec_command ${JSON.stringify({ cmd, login: false, ...more })}`;
}

function poll(session: number, more: object = {}): string {
  return `call write_stdin ${JSON.stringify({ session_id: session, ...more })}`;
}

function agent(...lines: string[]): string {
  return `call spawn_agent ${JSON.stringify({ message: lines.join('\n') })}`;
}

const ESCALATED = { sandbox_permissions: 'require_escalated', justification: 'May it?' };
const BACKGROUND = { yield_time_ms: 250 };
const decisionLine = (number: number, decision: string) => ({ id: number, result: { decision } });

/** The user's words in each turn, and the messages behind them. */
const TURNS: { say: string[]; messages?: object[] }[] = [
  {
    say: [
      exec('echo runs; sleep 600'),
      exec('touch first', ESCALATED),
      exec('sleep 600; echo never', { yield_time_ms: 30_000 }),
    ],
    messages: [
      { id: 'i1', method: 'turn/interrupt', params: { threadId: FIRST_THREAD, turnId: id(2) } },
    ],
  },
  { say: [exec('echo here; sleep 0.1; echo there'), 'say done'] },
  {
    say: [
      exec('sleep 0.2; echo slow'),
      exec('echo quick'),
      exec('ls missing; exit 3'),
      'say three',
    ],
  },
  { say: [exec('for i in $(seq 40); do echo line $i; sleep 0.01; done'), 'say printed'] },
  { say: [exec('for i in $(seq 30); do echo out $i; echo err $i >&2; done'), 'say both'] },
  { say: [exec('seq 1 40000'), exec('seq 1 40000 >&2', { max_output_tokens: 50 }), 'say long'] },
  { say: [exec('echo begun; sleep 600', BACKGROUND), 'say behind', poll(1012), 'say asked'] },
  { say: [patchPrompt('*** Add File: a.txt', '+one', '+two'), exec('cat a.txt'), 'say added'] },
  {
    say: [
      patchPrompt('*** Update File: a.txt', '@@', ' one', '-two', '+2'),
      patchPrompt('*** Delete File: none.txt'),
      exec('cat a.txt; ls'),
    ],
  },
  {
    say: [exec('touch second; echo outside', ESCALATED), 'say allowed'],
    messages: [decisionLine(1, 'accept')],
  },
  {
    say: [
      exec('echo three', ESCALATED),
      exec('sleep 0.05; echo inside'),
      exec('echo four', ESCALATED),
      exec('exit 1'),
    ],
    messages: [decisionLine(3, 'decline'), decisionLine(2, 'acceptForSession')],
  },
  {
    say: [
      exec('cat', { tty: true, ...BACKGROUND }),
      'say typing',
      poll(1020, { chars: 'words\n' }),
      'say typed',
    ],
  },
  { say: [exec('sleep 3; echo late', BACKGROUND), 'say meanwhile', poll(1021), 'say ended'] },
  { say: ['wait 5000', exec('echo five'), 'wait 100', 'say waited'] },
  {
    say: ['say killed'],
    messages: [
      { id: 'l', method: 'thread/backgroundTerminals/list', params: { threadId: FIRST_THREAD } },
      {
        id: 't',
        method: 'thread/backgroundTerminals/terminate',
        params: { threadId: FIRST_THREAD, processId: '1012' },
      },
      {
        id: 'u',
        method: 'thread/shellCommand',
        params: { threadId: FIRST_THREAD, command: 'echo mine; sleep 0.05; exit 4' },
      },
      {
        id: 'e1',
        method: 'command/exec',
        params: { command: ['sh', '-c', 'echo a; echo b >&2; sleep 0.05; echo c'] },
      },
      {
        id: 'e2',
        method: 'command/exec',
        params: { command: ['cat'], processId: 'cat', streamStdin: true, streamStdoutStderr: true },
      },
      { id: 'w', method: 'command/exec/write', params: { processId: 'cat', deltaBase64: 'aGk=' } },
      { id: 'x', method: 'command/exec/terminate', params: { processId: 'cat' } },
    ],
  },
  { say: [exec('exit 7'), exec('kill -9 $$'), exec('no-such-program'), 'fail other'] },
  {
    say: [
      exec('sleep 0.05; echo x; echo y >&2'),
      patchPrompt('*** Add File: b.txt', '+b'),
      exec('cat b.txt'),
    ],
  },
  {
    say: [
      ...Array.from({ length: 12 }, (_, number) => exec(`sleep 0.0${number % 3}; echo ${number}`)),
      'say twelve',
    ],
    messages: [{ id: 'f', method: 'thread/fork', params: { threadId: FIRST_THREAD } }],
  },
  {
    say: [exec('echo last question', ESCALATED), 'say never'],
    messages: [decisionLine(4, 'cancel')],
  },
  {
    say: [
      agent(exec('sleep 0.05; echo a1'), exec('echo a2'), 'say agent one'),
      agent(exec('echo b1; sleep 0.02'), patchPrompt('*** Add File: c.txt', '+c'), 'say agent two'),
      agent('say agent three'),
      'say started',
    ],
  },
  { say: ['call wait_agent {}', 'say waited'] },
  {
    say: [agent(exec('echo asks', ESCALATED), 'say allowed'), 'call wait_agent {}', 'say both'],
    messages: [decisionLine(5, 'accept')],
  },
  {
    say: [agent(exec('touch third', ESCALATED), exec('sleep 600; echo never')), 'say hanging'],
    messages: [
      { id: 'i2', method: 'turn/interrupt', params: { threadId: FIRST_THREAD, turnId: '' } },
      { id: 'a', method: 'thread/list', params: { ancestorThreadId: FIRST_THREAD } },
    ],
  },
  {
    say: ['say the end'],
    messages: [
      { id: 'r', method: 'thread/read', params: { threadId: FIRST_THREAD, includeTurns: true } },
      {
        id: 'n',
        method: 'turn/start',
        params: {
          threadId: FIRST_THREAD,
          input: textInput([exec('echo asks', ESCALATED), exec('sleep 0.1')]),
        },
      },
    ],
  },
];

function textInput(lines: string[]) {
  return [{ type: 'text', text: lines.join('\n') }];
}

const INITIALIZE = {
  id: 1,
  method: 'initialize',
  params: { clientInfo: { name: 'script', version: '1' }, capabilities: { experimentalApi: true } },
};

function script(): string {
  const messages = [
    INITIALIZE,
    {
      id: 2,
      method: 'thread/start',
      params: { approvalPolicy: 'on-request', sandbox: 'workspace-write' },
    },
    ...TURNS.flatMap(({ say, messages: more = [] }, index) => [
      {
        id: 10 + index,
        method: 'turn/start',
        params: { threadId: FIRST_THREAD, input: textInput(say) },
      },
      ...more,
    ]),
  ];
  return messages.map((message) => `${JSON.stringify(message)}\n`).join('');
}

interface Run {
  status: number | null;
  stdout: string;
  stderr: string;
}

/**
 * Runs the server to its end. The names of all folders of tests have the same length; they are
 * replaced in the output.
 */
async function run(
  input: string,
  args: string[] = [],
  env: Record<string, string> = {},
): Promise<Run> {
  const where = place();
  const child = spawn(process.execPath, [EXECUTABLE, '--deterministic', ...args], {
    cwd: where.work,
    env: { ...environment(where), ...env },
    stdio: 'pipe',
    timeout: RUN_MS_MAX,
  });
  child.stdin.end(input);
  const [stdout, stderr, status] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.once('exit', resolve)),
  ]);
  return {
    status,
    stdout: stdout
      .replaceAll(where.work, 'WORK')
      .replaceAll(where.home, 'HOME')
      .replaceAll(where.temp, 'TEMP'),
    stderr,
  };
}

/** Processes that only compute, until the returned function is called. */
function load(count: number): () => void {
  const children = Array.from({ length: count }, () =>
    spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
  );
  return () => {
    for (const child of children) child.kill('SIGKILL');
  };
}

interface Notice {
  id?: unknown;
  method?: string;
  params?: {
    item?: {
      type: string;
      aggregatedOutput?: string | null;
      exitCode?: number | null;
      durationMs?: number | null;
    };
    turn?: Turn;
  };
  result?: Record<string, unknown>;
}

interface Turn {
  status: string;
}

/** The first line in which two outputs differ, with its number. */
function difference(one: string, other: string): unknown {
  const [lines, others] = [one.split('\n'), other.split('\n')];
  const at = lines.findIndex((line, index) => line !== others[index]);
  return at === -1 && lines.length === others.length
    ? null
    : { at, one: lines[at]?.slice(0, 600), other: others[at]?.slice(0, 600) };
}

describe('--deterministic with commands', () => {
  test('commands do not read the profile of the user, whose output may be other each time', async () => {
    const noise = 'echo $RANDOM; export NOISE=$RANDOM\n';
    const user = tempFolder({ '.bash_profile': noise, '.bashrc': noise, '.profile': noise });
    const start = {
      id: 2,
      method: 'thread/start',
      params: { approvalPolicy: 'never', sandbox: 'danger-full-access' },
    };
    const turn = {
      id: 3,
      method: 'turn/start',
      params: {
        threadId: FIRST_THREAD,
        input: textInput([exec('echo "[$NOISE]"', { login: true })]),
      },
    };
    const shell = {
      id: 4,
      method: 'thread/shellCommand',
      params: { threadId: FIRST_THREAD, command: 'echo "<$NOISE>"' },
    };
    const input = [INITIALIZE, start, turn, shell]
      .map((message) => `${JSON.stringify(message)}\n`)
      .join('');
    const { stdout } = await run(input, [], { HOME: user, SHELL: '/bin/bash' });
    const outputs = jsonLines<Notice>(stdout).flatMap(({ method, params }) =>
      method === 'item/completed' ? (params?.item?.aggregatedOutput ?? []) : [],
    );
    expect(outputs.sort()).toEqual(['<>\n', '[]\n']);
  });

  test(
    'turns with commands, patches, approvals, agents and interrupts give the same bytes each time, on a busy machine too',
    async () => {
      const input = script();
      const first = await run(input);
      expect(first).toMatchObject({ status: 0, stderr: '' });
      const ends = jsonLines<Notice>(first.stdout).filter(
        ({ method }) => method === 'turn/completed',
      );
      expect(ends.length).toBeGreaterThan(TURNS.length);
      // An interrupt ends the turn of the last agent only.
      const agents = jsonLines<Notice>(first.stdout).find(({ id: of }) => of === 'a')?.result?.data;
      expect(agents).toHaveLength(5);
      expect(jsonLines<Notice>(first.stdout)).toContainEqual({ id: 'i2', result: {} });
      const end = load(RUNS > AT_ONCE ? AT_ONCE : 2);
      try {
        for (let done = 1; done < RUNS; done += AT_ONCE) {
          const runs = await Promise.all(
            Array.from({ length: Math.min(AT_ONCE, RUNS - done) }, () => run(input)),
          );
          for (const { stdout, ...how } of runs) {
            expect(how).toEqual({ status: 0, stderr: '' });
            expect(difference(first.stdout, stdout)).toBe(null);
          }
        }
      } finally {
        end();
      }
    },
    RUNS * RUN_MS_MAX,
  );
});

test('--deterministic runs no program of notify, which time would have to pass for', async () => {
  const file = join(tempFolder(), 'ran');
  const input = script().split('\n').slice(0, 2).join('\n');
  const turn = {
    id: 3,
    method: 'turn/start',
    params: { threadId: FIRST_THREAD, input: textInput(['say done']) },
  };
  const notify = ['sh', '-c', `touch ${file}; exec sleep 600`];
  const { status, stdout } = await run(`${input}\n${JSON.stringify(turn)}\n`, [
    '-c',
    `notify=${JSON.stringify(notify)}`,
  ]);
  expect([status, stdout.includes('turn/completed'), existsSync(file)]).toEqual([0, true, false]);
});

test('--deterministic gives the same bytes if calls begin while their response streams, breaks off and goes on', async () => {
  const folder = tempFolder();
  const call = (cmd: string) => ({ call: 'exec_command', arguments: { cmd, login: false } });
  writeFileSync(
    join(folder, 'script.json'),
    JSON.stringify([
      [
        call('sleep 0.1; echo a'),
        { message: 'one two three', delay: 50 },
        call('echo b'),
        { wait: 500 },
        call('echo c'),
      ],
      [
        call('echo d; sleep 0.2'),
        { message: 'four five six', delay: 100 },
        call('echo e'),
        { cut: true, retry: 100 },
      ],
      [{ message: 'seven', delay: 10 }, call('exit 3'), { message: 'eight' }],
      'done',
    ]),
  );
  const turn = {
    id: 3,
    method: 'turn/start',
    params: { threadId: FIRST_THREAD, input: textInput(['go']) },
  };
  const input = `${script().split('\n').slice(0, 2).join('\n')}\n${JSON.stringify(turn)}\n`;
  const runs = await Promise.all(
    Array.from({ length: 4 }, () => run(input, ['--model-script', join(folder, 'script.json')])),
  );
  const [first, ...others] = runs;
  expect(first).toMatchObject({ status: 0, stderr: '' });
  const outputs = jsonLines<Notice>(first?.stdout ?? '').flatMap(({ method, params }) =>
    method === 'item/completed' && params?.item?.type === 'commandExecution'
      ? [params.item.aggregatedOutput]
      : [],
  );
  expect(outputs.map(String).toSorted()).toEqual(['a\n', 'b\n', 'c\n', 'd\n', 'e\n', 'null']);
  for (const { stdout } of others) expect(difference(first?.stdout ?? '', stdout)).toBe(null);
}, 60_000);
