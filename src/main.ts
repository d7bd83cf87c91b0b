import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Logger } from 'pino';
import { createAppServer } from './app.ts';
import type { Log } from './base/log.ts';
import { PROTOCOL_VERSION } from './protocol/version.ts';

/** The package's version, put in by the build. */
declare const HEDDLE_VERSION: string;

/** How long an orderly end may take before the process ends anyway. */
const CLOSE_MS_MAX = 5000;

/** How much of the log may wait for its reader. */
const LOG_BACKLOG_BYTES_MAX = 1024 * 1024;

const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;

const USAGE = `usage: heddle [app-server] [options]

Serves coding agents' threads to an editor or a test harness: JSON-RPC, one message a line, on stdin and stdout.

  -c, --config KEY=VALUE   set a value over config.toml, as TOML; may be repeated
  -m, --model NAME         the model, as -c model=NAME
  -s, --sandbox MODE       read-only, workspace-write or danger-full-access
  -a, --ask-for-approval POLICY
                           untrusted, on-failure, on-request or never
      --listen stdio://    where to listen; stdio is what there is
  -h, --help               this text
  -V, --version            the version of the protocol that is spoken

Its home is $HEDDLE_HOME, else $CODEX_HOME, else ~/.heddle. $HEDDLE_LOG sets what is logged to stderr: error, warn
(the default), info or debug.
`;

interface Arguments {
  overrides: string[];
}

/** What the command line asks for; what can be answered at once is answered, and gives null. */
function parseCommandLine(argv: string[]): Arguments | null {
  const { values, positionals } = parseArgs({
    args: argv,
    allowPositionals: true,
    options: {
      config: { type: 'string', short: 'c', multiple: true },
      model: { type: 'string', short: 'm' },
      sandbox: { type: 'string', short: 's' },
      'ask-for-approval': { type: 'string', short: 'a' },
      listen: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
      version: { type: 'boolean', short: 'V' },
    },
  });
  if (values.help === true) process.stdout.write(USAGE);
  else if (values.version === true) process.stdout.write(`heddle ${PROTOCOL_VERSION}\n`);
  if (values.help === true || values.version === true) return null;
  const [command = 'app-server', ...rest] = positionals;
  if (command !== 'app-server' || rest.length > 0) throw new Error(`there is no command '${positionals.join(' ')}'`);
  if (values.listen !== undefined && values.listen !== 'stdio://') throw new Error(`--listen ${values.listen}: only stdio:// is served`);
  const flags = { model: values.model, sandbox_mode: values.sandbox, approval_policy: values['ask-for-approval'] };
  const named = Object.entries(flags).flatMap(([key, value]) => (value === undefined ? [] : [`${key}=${JSON.stringify(value)}`]));
  return { overrides: [...(values.config ?? []), ...named] };
}

function homeFolder(): string {
  return resolve(process.env.HEDDLE_HOME || process.env.CODEX_HOME || join(homedir(), '.heddle'));
}

/** Many clients never read stderr, or close it: neither may hold up or end the server, so then lines are left out. */
function stderrLines(): { write(line: string): void } {
  const { stderr } = process;
  stderr.on('error', () => {});
  return {
    write(line) {
      if (stderr.writableLength < LOG_BACKLOG_BYTES_MAX) stderr.write(line);
    },
  };
}

/** Logs to stderr. What is rarely written need not be loaded before the first answer: pino is, with the first line that counts. */
function lazyLog(asked: string): Log {
  const levels = ['debug', 'info', 'warn', 'error'] as const;
  const level = levels.find((name) => name === asked) ?? 'warn';
  let logger: Logger | null = null;
  const load = (): Logger => {
    const { pino } = require('pino') as typeof import('pino');
    return pino({ level, base: null }, stderrLines());
  };
  const method = (name: (typeof levels)[number]): Log['error'] =>
    levels.indexOf(name) < levels.indexOf(level)
      ? () => {}
      : (...line: unknown[]) => {
          logger ??= load();
          (logger[name] as (...line: unknown[]) => void)(...line);
        };
  return { debug: method('debug'), info: method('info'), warn: method('warn'), error: method('error') };
}

async function serve({ overrides }: Arguments): Promise<void> {
  const log = lazyLog(process.env.HEDDLE_LOG ?? '');
  const server = createAppServer({
    home: homeFolder(),
    cwd: process.cwd(),
    env: process.env,
    overrides,
    log,
    version: HEDDLE_VERSION,
    platform: process.platform,
    pid: process.pid,
    migrationsDir: join(__dirname, '..', 'migrations'),
    tempDir: tmpdir(),
  });
  const end = async (exitCode: number) => {
    setTimeout(() => process.exit(exitCode), CLOSE_MS_MAX).unref();
    await server.close().catch((error: unknown) => log.error({ err: error }, 'closing failed'));
    process.exit(exitCode);
  };
  for (const [signal, number] of Object.entries(SIGNALS)) process.once(signal, () => void end(128 + number));
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'unhandled rejection'));
  await server.connect({ input: process.stdin, output: process.stdout });
  await end(0);
}

try {
  const args = parseCommandLine(process.argv.slice(2));
  if (args !== null) serve(args).catch((error: unknown) => fail(error, 1));
} catch (error) {
  fail(error, 2, `\n${USAGE}`);
}

function fail(error: unknown, exitCode: number, hint = ''): void {
  process.stderr.write(`heddle: ${error instanceof Error ? error.message : String(error)}\n${hint}`);
  process.exitCode = exitCode;
}
