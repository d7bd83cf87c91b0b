import { suggestKey } from '../config/suggest-key.ts';
import { type Framing, isFraming } from '../transport/framing.ts';
import { type ExecOptions, execOptions } from './exec/exec-options.ts';
import { isLogLevel, type LogLevel } from './lazy-log.ts';
import {
  type CommandLine,
  type OptionValues,
  optionOfExec,
  otherThanSettings,
  overridesOf,
  readOptions,
  unusedOptions,
} from './read-options.ts';

/** How to run the server. Paths are as in the command line. */
export interface ServeOptions {
  /** Settings that override config.toml, as `key=value` strings. */
  overrides: string[];
  /** The file of a script that replaces all models. */
  modelScript: string | null;
  framing: Framing;
  /** Whether a key of the configuration that heddle does not know ends the start. */
  strictConfig: boolean;
  /** The working directory of threads that name none. Null: that of the process. */
  cwd: string | null;
  /** The given options that have no effect, with their hyphens. `allowing`: those that would allow more. */
  unused: { harmless: string[]; allowing: string[] };
  drain: boolean;
  deterministic: boolean;
  /** Null: the environment decides. */
  logLevel: LogLevel | null;
  logFile: string | null;
  wireLog: string | null;
}

const GENERATORS = ['generate-json-schema', 'generate-ts'] as const;

export type Generator = (typeof GENERATORS)[number];

const STORE_ACTIONS = ['backup', 'restore', 'check', 'repair', 'vacuum'] as const;

export type StoreAction = (typeof STORE_ACTIONS)[number];

/** The command that a command line asks for. */
export type Command =
  | { run: 'help' }
  | { run: 'version' }
  | { run: 'trust'; folder: string; yes: boolean }
  | { run: 'store'; action: StoreAction; file: string | null; json: boolean }
  | { run: 'doctor'; overrides: string[]; json: boolean }
  | { run: 'generate'; generator: Generator; out: string; experimental: boolean }
  | { run: 'exec'; asked: ExecOptions; options: ServeOptions }
  | { run: 'serve'; options: ServeOptions };

/** Throws an Error that says what is wrong. */
export function parseCommandLine(argv: string[]): Command {
  const hasOptions = argv.some((argument) => argument.startsWith('-'));
  // The first call of parseArgs takes about 1 % of the time of the start.
  const { values, positionals }: CommandLine = hasOptions ? readOptions(argv) : { values: {}, positionals: argv };
  if (values.help === true) return { run: 'help' };
  if (values.version === true) return { run: 'version' };
  if (positionals[0] === 'exec') return execCommand(positionals.slice(1), values);
  const ofExec = optionOfExec(values);
  if (ofExec !== undefined) throw new Error(`--${ofExec} can only be used with exec`);
  const generate = generateCommand(positionals, values);
  if (generate !== null) return generate;
  const trust = trustCommand(positionals, values);
  if (trust !== null) return trust;
  const doctor = doctorCommand(positionals, values);
  if (doctor !== null) return doctor;
  const store = storeCommand(positionals, values);
  if (store !== null) return store;
  return serveCommand(positionals, values);
}

function serveCommand(positionals: string[], values: OptionValues): Command {
  const [command = 'app-server', ...rest] = positionals;
  if (command !== 'app-server' || rest.length > 0) throw unknownCommand(positionals);
  if (values.listen !== undefined && values.listen !== 'stdio://') throw new Error(`--listen ${values.listen}: expected stdio://`);
  return { run: 'serve', options: serveOptions(values) };
}

/** One turn, of a server in the same process, which takes the options of a server. */
function execCommand(words: string[], values: OptionValues): Command {
  const { image: _used, ...ofServer } = values;
  return { run: 'exec', asked: execOptions(words, values), options: serveOptions(ofServer) };
}

function serveOptions(values: OptionValues): ServeOptions {
  return {
    overrides: overridesOf(values),
    modelScript: path('--model-script', values['model-script']),
    framing: oneOf('--framing', values.framing ?? 'lines', isFraming, 'lines or content-length'),
    strictConfig: values['strict-config'] ?? false,
    cwd: path('--cd', values.cd),
    unused: unusedOptions(values),
    drain: values.drain ?? false,
    deterministic: values.deterministic ?? false,
    logLevel:
      values['log-level'] === undefined ? null : oneOf('--log-level', values['log-level'], isLogLevel, 'off, error, warn, info or debug'),
    logFile: path('--log-file', values['log-file']),
    wireLog: path('--wire-log', values['wire-log']),
  };
}

/** Returns null if the command line does not ask for the doctor. It takes the settings of a server. */
function doctorCommand(positionals: string[], { json, ...values }: OptionValues): Command | null {
  const [command, ...rest] = positionals;
  if (command !== 'doctor') return null;
  if (rest.length > 0) throw new Error(`doctor: unexpected '${rest.join(' ')}'`);
  const other = otherThanSettings(values);
  if (other !== undefined) throw new Error(`--${other} cannot be used with doctor, which takes --json and the settings of a server`);
  return { run: 'doctor', overrides: overridesOf(values), json: json === true };
}

/** Returns null if the command line asks for no generator. */
function generateCommand(
  positionals: string[],
  { out, experimental, ...others }: { out?: string; experimental?: boolean; [other: string]: unknown },
): Command | null {
  const generator = GENERATORS.find((name) => name === positionals.at(-1));
  if (generator !== undefined && ['', 'app-server'].includes(positionals.slice(0, -1).join(' '))) {
    const [other] = Object.keys(others);
    if (other !== undefined) throw new Error(`--${other} cannot be used with ${generator}, whose options are --out and --experimental`);
    if (!out) throw new Error(`${generator} requires --out DIR, the folder to write to`);
    return { run: 'generate', generator, out, experimental: experimental === true };
  }
  if (out !== undefined || experimental !== undefined)
    throw new Error('--out and --experimental can only be used with generate-json-schema and generate-ts');
  return null;
}

/** Returns null if the command line does not ask to trust a folder. */
function trustCommand(positionals: string[], { yes, ...others }: { yes?: boolean; [other: string]: unknown }): Command | null {
  const [command, folder = '.', ...rest] = positionals;
  if (command === 'trust') {
    const [other] = Object.keys(others);
    if (other !== undefined) throw new Error(`--${other} cannot be used with trust, whose only option is --yes`);
    if (rest.length > 0 || folder === '') throw new Error('trust: expected one folder at most');
    return { run: 'trust', folder, yes: yes === true };
  }
  if (yes !== undefined) throw new Error('--yes can only be used with trust');
  return null;
}

/** Returns null if the command line does not ask to maintain the store. */
function storeCommand(positionals: string[], { json, ...others }: { json?: boolean; [other: string]: unknown }): Command | null {
  const [command, ...words] = positionals;
  if (command === 'store') {
    const [other] = Object.keys(others);
    if (other !== undefined) throw new Error(`--${other} cannot be used with store, whose only option is --json`);
    return { run: 'store', ...storeAction(words), json: json === true };
  }
  if (json !== undefined) throw new Error('--json can only be used with exec, store and doctor');
  return null;
}

function storeAction([name = '', ...files]: string[]): { action: StoreAction; file: string | null } {
  const action = STORE_ACTIONS.find((known) => known === name);
  if (action === undefined) throw new Error(`store ${name}: expected ${STORE_ACTIONS.join(', ')}`);
  const wanted = action === 'backup' || action === 'restore' ? 1 : 0;
  if (wanted === 1 && !files[0]) throw new Error(`store ${action} requires the name of the backup file`);
  if (files.length > wanted) throw new Error(`store ${action}: unexpected '${files[wanted]}'`);
  return { action, file: files[0] ?? null };
}

const COMMANDS = ['app-server', 'exec', 'trust', 'doctor', 'store', ...GENERATORS];

function unknownCommand(words: readonly string[]): Error {
  const nearest = suggestKey(words.at(-1) ?? '', COMMANDS);
  return new Error(`unknown command '${words.join(' ')}'${nearest === null ? '' : `: did you mean ${nearest}?`}`);
}

function oneOf<T extends string>(option: string, value: string, isKnown: (value: string) => value is T, known: string): T {
  if (!isKnown(value)) throw new Error(`${option} ${value}: expected ${known}`);
  return value;
}

function path(option: string, value: string | undefined): string | null {
  if (value === '') throw new Error(`${option}: expected a file name`);
  return value ?? null;
}
