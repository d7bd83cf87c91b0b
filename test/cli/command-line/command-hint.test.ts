import { describe, expect, test } from 'vitest';
import { describeProblem } from '../../../src/cli/command-line/describe-problem.ts';
import { parseCommandLine } from '../../../src/cli/command-line/parse-command-line.ts';
import { UsageError } from '../../../src/cli/command-line/usage-error.ts';

const ASK = 'to ask the model, use heddle exec "PROMPT"';
const KEYS = 'heddle works with API keys: set OPENAI_API_KEY, or a provider in config.toml';
const ANSWER = 'in a pipe, stdout has only the last message';

/** The output about this wrong command line. */
function problemOf(argv: string[]): string {
  try {
    parseCommandLine(argv);
  } catch (error) {
    if (error instanceof UsageError) return describeProblem(error, argv);
    throw error;
  }
  throw new Error(`the command line is right: ${argv.join(' ')}`);
}

describe('words of other programs are answered with the way to do the same', () => {
  test.each([
    [['fix the login'], `unknown command 'fix the login': ${ASK}`],
    [['chat'], `unknown command 'chat': ${ASK}`],
    [['login', 'status'], `unknown command 'login': ${KEYS}`],
    [['help', 'login'], `unknown command 'login': ${KEYS}`],
    [
      ['start'],
      "unknown command 'start': heddle without a command serves one client on stdin and stdout",
    ],
    [
      ['resume', '--last'],
      "unknown command 'resume': to continue a thread, use heddle exec --resume ID or --last",
    ],
    [
      ['backup', 'f'],
      "unknown command 'backup': heddle store backup, restore, check, repair and vacuum work with the database",
    ],
    [
      ['--port', '8080'],
      'unknown option --port: to let clients connect, use --listen ws://127.0.0.1:PORT or --listen unix://',
    ],
    [
      ['exec', '--provider', 'ollama', 'x'],
      '--provider cannot be used with exec: to choose the provider, use -c model_provider=NAME',
      'help exec',
    ],
    [
      ['--provider', 'ollama'],
      '--provider cannot be used with app-server: to choose the provider, use -c model_provider=NAME',
    ],
    [['constructor'], "unknown command 'constructor'"],
    [
      ['threads', 'ls'],
      'threads ls: expected list, search, show, export or delete: did you mean list?',
      'help threads',
    ],
    [
      ['threads', 'add'],
      'threads add: expected list, search, show, export or delete',
      'help threads',
    ],
    [['store', 'ls'], 'store ls: expected backup, restore, check, repair or vacuum', 'help store'],
    [
      ['mcp', 'get', 'x'],
      'mcp get: expected list, login or logout: heddle mcp list shows all servers',
      'help mcp',
    ],
    [
      ['mcp', 'add'],
      'mcp add: expected list, login or logout: servers are in config.toml, as [mcp_servers.NAME]',
      'help mcp',
    ],
    [
      ['exec', '--output-last-message', 'f', 'x'],
      `unknown option --output-last-message: ${ANSWER}`,
      'help exec',
    ],
    [['exec', '-o', 'f', 'x'], `-o cannot be used with exec: ${ANSWER}`, 'help exec'],
    [
      ['threads', 'list', '-o', 'f'],
      '-o cannot be used with threads list, only with generate-json-schema and generate-ts',
      'help threads',
    ],
    [['-v'], 'unknown option -v: to see the version, use -V; to log more, use --log-level debug'],
    [['--__proto__'], 'unknown option --__proto__'],
  ] as [string[], string, string?][])('%j', (argv, message, help = '--help') => {
    expect(problemOf(argv)).toBe(`${message} (see "heddle ${help}")`);
  });
});
