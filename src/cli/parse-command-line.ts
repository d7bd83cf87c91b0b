import { parseArgs } from 'node:util';
import { type Framing, isFraming } from '../transport/framing.ts';
import { isLogLevel, type LogLevel } from './lazy-log.ts';

/** How the server is to be run. Paths are as they were given. */
export interface ServeOptions {
  /** Settings over config.toml, as `key=value` texts. */
  overrides: string[];
  framing: Framing;
  drain: boolean;
  deterministic: boolean;
  /** Null: the environment says. */
  logLevel: LogLevel | null;
  logFile: string | null;
  wireLog: string | null;
}

/** What a command line asks for. */
export type Command = { run: 'help' } | { run: 'version' } | { run: 'serve'; options: ServeOptions };

/** Throws an Error that says what is wrong. */
export function parseCommandLine(argv: string[]): Command {
  const { values, positionals } = parseArgs({
    args: argv,
    allowPositionals: true,
    options: {
      config: { type: 'string', short: 'c', multiple: true },
      model: { type: 'string', short: 'm' },
      sandbox: { type: 'string', short: 's' },
      'ask-for-approval': { type: 'string', short: 'a' },
      listen: { type: 'string' },
      framing: { type: 'string' },
      drain: { type: 'boolean' },
      deterministic: { type: 'boolean' },
      'log-level': { type: 'string' },
      'log-file': { type: 'string' },
      'wire-log': { type: 'string' },
      help: { type: 'boolean', short: 'h' },
      version: { type: 'boolean', short: 'V' },
    },
  });
  if (values.help === true) return { run: 'help' };
  if (values.version === true) return { run: 'version' };
  const [command = 'app-server', ...rest] = positionals;
  if (command !== 'app-server' || rest.length > 0) throw new Error(`there is no command '${positionals.join(' ')}'`);
  if (values.listen !== undefined && values.listen !== 'stdio://') throw new Error(`--listen ${values.listen}: only stdio:// is served`);
  const settings = { model: values.model, sandbox_mode: values.sandbox, approval_policy: values['ask-for-approval'] };
  const named = Object.entries(settings).flatMap(([key, value]) => (value === undefined ? [] : [`${key}=${JSON.stringify(value)}`]));
  return {
    run: 'serve',
    options: {
      overrides: [...(values.config ?? []), ...named],
      framing: oneOf('--framing', values.framing ?? 'lines', isFraming, 'lines or content-length'),
      drain: values.drain ?? false,
      deterministic: values.deterministic ?? false,
      logLevel:
        values['log-level'] === undefined ? null : oneOf('--log-level', values['log-level'], isLogLevel, 'off, error, warn, info or debug'),
      logFile: path('--log-file', values['log-file']),
      wireLog: path('--wire-log', values['wire-log']),
    },
  };
}

function oneOf<T extends string>(option: string, value: string, isKnown: (value: string) => value is T, known: string): T {
  if (!isKnown(value)) throw new Error(`${option} ${value}: expected ${known}`);
  return value;
}

function path(option: string, value: string | undefined): string | null {
  if (value === '') throw new Error(`${option}: expected the name of a file`);
  return value ?? null;
}
