import { describe, expect, test } from 'vitest';
import { parseCommandLine } from '../../../src/cli/command-line/parse-command-line.ts';
import { problemOf } from './problem-of.ts';

const SETTINGS = ['-c a=1', '--config a=1', '--enable goals', '--disable goals'];
const SERVER = [
  ...[
    '-m x',
    '--model x',
    '--oss',
    '--local-provider ollama',
    '-p x',
    '--profile x',
    '-s read-only',
    '--sandbox read-only',
  ],
  ...[
    '--approve-for-me',
    '--dangerously-bypass-approvals-and-sandbox',
    '--yolo',
    '--full-auto',
    '--dangerously-bypass-hook-trust',
  ],
  ...[
    '-C .',
    '--cd .',
    '--worktree',
    '--add-dir .',
    '-i a.png',
    '--image a.png',
    '--strict-config',
  ],
];
const AT_SCREEN = [
  '-a never',
  '--ask-for-approval never',
  '--search',
  '--no-alt-screen',
  '--no-daemon',
  '--remote x',
  '--remote-auth-token-env X',
];
const RUN = [
  ...[
    '--thread-source x',
    '--cyber-access-program standard',
    '--skip-git-repo-check',
    '--trust',
    '--ephemeral',
    '--ignore-user-config',
  ],
  ...[
    '--ignore-rules',
    '--output-schema f',
    '--json',
    '--experimental-json',
    '-o f',
    '--output-last-message f',
    '--color never',
  ],
];
const REVIEW = ['--uncommitted', '--base main', '--commit abc', '--title t'];
const LISTEN = [
  '--ws-auth capability-token --ws-token-file f',
  `--ws-auth capability-token --ws-token-sha256 ${'a'.repeat(64)}`,
  '--ws-auth signed-bearer-token --ws-shared-secret-file f --ws-issuer x --ws-audience x --ws-max-clock-skew-seconds 5',
].map((options) => `--listen ws://127.0.0.1:0 ${options}`);

/** The command line of Codex 0.169.0: the options of each command. `ID` and such are arguments. */
const CODEX: Record<string, string[]> = {
  '"do this"': [...SERVER, ...AT_SCREEN],
  agents: AT_SCREEN,
  'exec "do this"': [...SERVER, ...RUN],
  'e "do this"': [...SERVER, ...RUN],
  'exec resume ID "do this"': [...SERVER, ...RUN, '--last', '--all'],
  'exec resume --last "do this"': [...SERVER, ...RUN, '--all'],
  'exec fork ID "do this"': [...SERVER, ...RUN],
  'exec review': [...SERVER, ...RUN, ...REVIEW],
  'exec help': [],
  review: [...REVIEW, '--strict-config', '--trust'],
  resume: [...SERVER, ...AT_SCREEN, '--last', '--all', '--include-non-interactive'],
  'resume ID': [...SERVER, ...AT_SCREEN],
  fork: [...SERVER, ...AT_SCREEN, '--last', '--all'],
  'queue ID "do this"': SERVER,
  'archive ID': SERVER,
  'unarchive ID': SERVER,
  'delete ID': [...SERVER, '--force'],
  'migrate-rollouts': [],
  'migrate-nfs-db': [],
  login: ['--with-api-key', '--with-access-token', '--device-auth'],
  'login status': [],
  logout: [],
  mcp: [],
  'mcp list': ['--json'],
  'mcp get NAME': ['--json'],
  'mcp add NAME': [
    ...[
      '--env A=b',
      '--url http://a',
      '--bearer-token-env-var X',
      '--oauth-client-id x',
      '--oauth-client-secret x',
    ],
    ...['--oauth-client-registration auto', '--oauth-resource x', '-- command'],
  ],
  'mcp remove NAME': [],
  'mcp login NAME': ['--scopes a'],
  'mcp logout NAME': [],
  'mcp help': [],
  plugin: [],
  'plugin add x': [],
  'app-server': [
    ...[
      '--startup-sign-out',
      '--print-startup-config',
      '--startup-client-info {}',
      '--cloud-skills-snapshot f',
      '--code-mode-host x',
    ],
    ...[
      '--strict-config',
      '--listen stdio://',
      '--listen ws://127.0.0.1:0',
      '--stdio',
      '--analytics-default-enabled',
    ],
    ...['--session-source x', ...LISTEN],
  ],
  'app-server daemon': [],
  'app-server proxy': ['--sock s'],
  'app-server generate-ts --out d': ['-p prettier', '--prettier prettier', '--experimental'],
  'app-server generate-ts -o d': [],
  'app-server generate-json-schema --out d': ['--experimental'],
  'app-server help': [],
  'remote-control': [],
  'exec-server': [],
  'mcp-server': [],
  completion: [],
  'completion bash': [],
  'completion elvish': [],
  update: [],
  doctor: ['--json', '--network-only', '--summary', '--all', '--no-color', '--ascii'],
  'sandbox ls': ['-P x', '--permission-profile x', '--include-managed-config', '-C .'],
  'debug models': [],
  'apply ID': [],
  'a ID': [],
  'cloud list': [],
  'features list': [],
  'features enable goals': [],
};

const LINES = Object.entries(CODEX).flatMap(([command, options]) =>
  ['', ...SETTINGS, ...options].map((option) => `${command} ${option}`.trim()),
);

function argvOf(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '');
}

describe('the command line of Codex', () => {
  test(`each of its ${LINES.length} forms is accepted, or answered with the way to do the same in heddle`, () => {
    const problems = LINES.map((line) => problemOf(argvOf(line))).filter(
      (problem) => problem !== null,
    );
    const unanswered = problems.filter(
      (problem) => !/(?:: |, only with | requires ).* \(see "heddle [^"]+"\)$/.test(problem),
    );
    const guessed = problems.filter((problem) => /^unknown .*did you mean/.test(problem));
    expect([unanswered, guessed]).toEqual([[], []]);
  });

  test('an error names the command and no option, if heddle does not have the command', () => {
    const commands = Object.keys(CODEX).filter(
      (command) => problemOf(argvOf(command)) !== null && command !== 'completion',
    );
    const others = commands.flatMap((command) => {
      const problem = problemOf(argvOf(command));
      return (CODEX[command] ?? []).map((option) => [
        `${command} ${option}`,
        problemOf(argvOf(`${command} ${option}`)) === problem,
      ]);
    });
    expect(others.filter(([, isSame]) => !isSame)).toEqual([]);
  });

  test.each([
    ['exec resume ID', { threadId: 'ID' }, null],
    ['exec resume ID more', { threadId: 'ID' }, 'more'],
    ['exec --json resume ID more', { threadId: 'ID' }, 'more'],
    ['e resume a/b.jsonl more', { file: 'a/b.jsonl' }, 'more'],
    ['exec resume "a b/c.jsonl" more', { file: 'a b/c.jsonl' }, 'more'],
    ['exec resume --last', 'last', null],
    ['exec resume --last more', 'last', 'more'],
    ['exec --last resume more', 'last', 'more'],
    ['exec --last -- resume', 'last', 'resume'],
    ['exec -- resume', null, 'resume'],
    ['exec -- review', null, 'review'],
    ['exec -- help', null, 'help'],
    ['exec "resume the work"', null, 'resume the work'],
  ])('%s', (line, resume, prompt) => {
    expect(parseCommandLine(argvOf(line))).toMatchObject({
      run: 'exec',
      asked: { resume, prompt },
    });
  });

  test.each([
    ['exec resume', 'exec resume requires ID, or --last'],
    [
      'exec resume "go on"',
      'exec resume: expected the ID of a thread before the prompt, or --last',
    ],
    [
      'exec resume ID one two',
      'exec: expected one prompt, found 2 words: put the whole prompt in quotes',
    ],
    ['exec resume --resume ID', '--resume cannot be used with exec resume: give the ID once'],
    [
      'exec resume ID --ephemeral',
      '--ephemeral belongs to a new thread: it cannot be used with --resume or --last',
    ],
  ])('%s is refused', (line, problem) => {
    expect(problemOf(argvOf(line))).toBe(`${problem} (see "heddle help exec")`);
  });

  test.each(['exec help', 'e help', 'exec --help', 'exec resume --help'])(
    '%s prints the help of exec',
    (line) => {
      expect(parseCommandLine(argvOf(line))).toEqual({ run: 'help', command: 'exec' });
    },
  );
});
