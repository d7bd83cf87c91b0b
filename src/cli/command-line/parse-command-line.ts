import { suggestKey } from '../../base/text/suggest-key.ts';
import { type Framing, isFraming } from '../../transport/framing.ts';
import { type ExecOptions, execOptions, requireOnePrompt } from '../exec/exec-options.ts';
import { isLogLevel, type LogLevel } from '../lazy-log.ts';
import type { Request } from '../requests/run-request.ts';
import { type WireOptions, wireOptions } from '../wire/wire-options.ts';
import { actionHint, actionMeant, commandHint, optionHint } from './command-hint.ts';
import {
  COMMAND_NAMES,
  COMMON_OPTIONS,
  type CommandName,
  commandRow,
  type OptionRow,
  type StoreAction,
} from './commands.ts';
import {
  type CommandLine,
  type OptionName,
  type OptionValues,
  overridesOf,
  readOptions,
  unusedOptions,
} from './read-options.ts';
import type { Shell } from './show-completion.ts';
import { UsageError } from './usage-error.ts';

/** How to run the server. Paths are as in the command line. */
export interface ServeOptions {
  /** Settings that override config.toml, as `key=value` strings. */
  overrides: string[];
  /** The profile of `--profile`, which is one of the overrides too. */
  profile: string | null;
  /** The file of a script that replaces all models. */
  modelScript: string | null;
  framing: Framing;
  /** Whether a key of the configuration that heddle does not know ends the start. */
  strictConfig: boolean;
  /** The working directory of threads that name none. Null: that of the process. */
  cwd: string | null;
  /**
   * The given options that have no effect, with their hyphens. `allowing`: those that would allow
   * more.
   */
  unused: { harmless: string[]; allowing: string[] };
  drain: boolean;
  deterministic: boolean;
  /** Null: the environment decides. */
  logLevel: LogLevel | null;
  logFile: string | null;
  wireLog: string | null;
}

export type Generator = 'generate-json-schema' | 'generate-ts';

/** The command that a command line asks for. */
export type Command =
  | { run: 'help'; command: CommandName | null }
  | { run: 'version' }
  | { run: 'init'; values: OptionValues }
  | { run: 'trust'; folder: string; yes: boolean }
  | { run: 'store'; action: StoreAction; file: string | null; json: boolean }
  | { run: 'doctor'; overrides: string[]; json: boolean }
  | { run: 'request'; request: Request; overrides: string[] }
  | { run: 'completion'; shell: Shell }
  | { run: 'generate'; generator: Generator; out: string; experimental: boolean }
  | { run: 'exec'; asked: ExecOptions; options: ServeOptions }
  | { run: 'wire'; asked: WireOptions; options: ServeOptions }
  | { run: 'serve'; options: ServeOptions };

/** The words of a command line, which fit the row of the command. */
interface Words {
  name: CommandName;
  /** Null: the command has no actions. */
  action: string | null;
  args: string[];
}

/** Throws a UsageError that says what is wrong. */
export function parseCommandLine(argv: string[]): Command {
  const hasOptions = argv.some((argument) => argument.startsWith('-'));
  // The first call of parseArgs takes about 1 % of the time of the start.
  const { values, positionals }: CommandLine = hasOptions
    ? helpedBy(argv, () => readOptions(argv))
    : { values: {}, positionals: argv };
  if (values.version === true) return { run: 'version' };
  const name = commandIn(positionals);
  if (values.help === true) return { run: 'help', command: positionals.length === 0 ? null : name };
  return helpedBy([name], () =>
    commandFrom({ name, ...actionAndArguments(name, afterCommand(name, positionals)) }, values),
  );
}

/**
 * Returns the result of `read`. A UsageError of it names the help of the first command among the
 * words.
 */
function helpedBy<T>(words: readonly string[], read: () => T): T {
  try {
    return read();
  } catch (error) {
    const name =
      words.find((word) => COMMAND_NAMES.some((known) => known === word)) ?? 'app-server';
    // "heddle help help" would print nothing about the command that help was asked for.
    if (error instanceof UsageError && name !== 'app-server' && name !== 'help')
      error.help = `heddle help ${name}`;
    throw error;
  }
}

function commandFrom(words: Words, values: OptionValues): Command {
  const { name, action, args } = words;
  if (name === 'exec') requireOnePrompt(args);
  requireFitting(words, values);
  const json = values.json === true;
  switch (name) {
    case 'app-server':
      return { run: 'serve', options: serveOptions(values) };
    case 'exec': {
      const { image: _used, ...ofServer } = values;
      return { run: 'exec', asked: execOptions(args, values), options: serveOptions(ofServer) };
    }
    case 'init':
      return { run: 'init', values };
    case 'wire':
      return { run: 'wire', asked: wireOptions(values), options: serveOptions(values) };
    case 'doctor':
      return { run: 'doctor', overrides: overridesOf(values), json };
    case 'trust':
      return { run: 'trust', folder: args[0] ?? '.', yes: values.yes === true };
    case 'store':
      return { run: 'store', action: action as StoreAction, file: args[0] ?? null, json };
    case 'generate-json-schema':
    case 'generate-ts':
      if (!values.out) throw new UsageError(`${name} requires --out DIR, the folder to write to`);
      return {
        run: 'generate',
        generator: name,
        out: values.out,
        experimental: values.experimental === true,
      };
    case 'models':
      return { run: 'request', request: { kind: 'models', json }, overrides: overridesOf(values) };
    case 'threads':
      return { run: 'request', request: threadsRequest(action, args, values), overrides: [] };
    case 'mcp': {
      const [server = ''] = args;
      const request: Request =
        action === 'list'
          ? { kind: 'mcpServers', json }
          : { kind: action === 'logout' ? 'mcpLogout' : 'mcpLogin', name: server };
      return { run: 'request', request, overrides: overridesOf(values) };
    }
    case 'completion':
      return { run: 'completion', shell: args[0] as Shell };
    case 'help':
      return { run: 'help', command: args.length === 0 ? null : commandIn(args) };
    default:
      return name satisfies never;
  }
}

function threadsRequest(
  action: string | null,
  args: readonly string[],
  { json = false, yes = false, format }: OptionValues,
): Request {
  const [threadId = ''] = args;
  if (action === 'list' || action === 'search')
    return { kind: 'threads', searchTerm: action === 'list' ? null : args.join(' '), json };
  if (action === 'delete') return { kind: 'deleteThread', threadId, yes };
  return {
    kind: 'thread',
    threadId,
    format: action === 'show' || format === 'markdown' ? 'markdown' : 'jsonl',
  };
}

function serveOptions(values: OptionValues): ServeOptions {
  const { framing = 'lines', 'log-level': level } = values;
  return {
    overrides: overridesOf(values),
    profile: values.profile ?? null,
    modelScript: values['model-script'] ?? null,
    framing: isFraming(framing) ? framing : 'lines',
    strictConfig: values['strict-config'] ?? false,
    cwd: values.cd ?? null,
    unused: unusedOptions(values),
    drain: values.drain ?? false,
    deterministic: values.deterministic ?? false,
    logLevel: level !== undefined && isLogLevel(level) ? level : null,
    logFile: values['log-file'] ?? null,
    wireLog: values['wire-log'] ?? null,
  };
}

/**
 * The command that the words begin with. `app-server generate-ts` is another name of `generate-ts`,
 * as in Codex.
 */
function commandIn(words: readonly string[]): CommandName {
  const [first = 'app-server', second] = words;
  const isGenerator =
    first === 'app-server' && second !== undefined && second.startsWith('generate-');
  const found = isGenerator ? second : first;
  const name = COMMAND_NAMES.find((known) => known === found);
  if (name === undefined)
    throw new UsageError(
      `unknown command '${found}'${ending(commandHint(found)) || suggestion(found, COMMAND_NAMES)}`,
    );
  return name;
}

function afterCommand(name: CommandName, words: readonly string[]): string[] {
  return words.slice(words.indexOf(name) + 1);
}

function actionAndArguments(name: CommandName, words: string[]): Omit<Words, 'name'> {
  const { actions } = commandRow(name);
  if (actions === undefined) return { action: null, args: words };
  const known = Object.keys(actions);
  const [action, ...args] = words;
  if (action === undefined) throw new UsageError(`${name}: expected ${listed(known)}`);
  if (!known.includes(action)) {
    const meant = actionMeant(action, known);
    const end =
      ending(actionHint(name, action)) ||
      (meant === null ? suggestion(action, known) : `: did you mean ${meant}?`);
    throw new UsageError(`${name} ${action}: expected ${listed(known)}${end}`);
  }
  return { action, args };
}

/** Throws a UsageError if the row of the command does not take these arguments and options. */
function requireFitting({ name, action, args }: Words, values: OptionValues): void {
  const { actions, ...whole } = commandRow(name);
  const rows = [whole, ...(action === null ? [] : [actions?.[action] ?? whole])];
  const own = rows.at(-1) ?? whole;
  requireArguments(action === null ? name : `${name} ${action}`, own.arguments, args);
  const options: Partial<Record<OptionName, OptionRow>> = Object.assign(
    {},
    COMMON_OPTIONS,
    ...rows.map((row) => row.options),
  );
  const accepted: readonly OptionName[] = rows.flatMap((row) => row.accepts ?? []);
  for (const [given, value] of Object.entries(values) as [OptionName, unknown][]) {
    const option = options[given];
    if (option === undefined && !accepted.includes(given)) throw misplaced(given, name);
    if (option?.value !== undefined && [value].flat().includes(''))
      throw new UsageError(`--${given} requires a value, found an empty string`);
    if (option?.choices !== undefined) requireChoice(`--${given}`, String(value), option.choices);
  }
}

function requireArguments(command: string, wanted: string, args: readonly string[]): void {
  const names = wanted.split(' ').filter((one) => one !== '');
  const missing = names.slice(args.length).find((one) => !one.startsWith('['));
  if (missing !== undefined)
    throw new UsageError(`${command} requires ${listed(missing.replace('...', '').split('|'))}`);
  const [surplus] = names.some((one) => one.includes('...')) ? [] : args.slice(names.length);
  if (surplus !== undefined) throw new UsageError(`${command}: unexpected '${surplus}'`);
  if (args.includes('')) throw new UsageError(`${command}: an argument is empty`);
  for (const [index, one] of names.entries()) {
    const given = args[index];
    if (one.includes('|') && given !== undefined) requireChoice(command, given, one.split('|'));
  }
}

function requireChoice(what: string, value: string, choices: readonly string[]): void {
  if (!choices.includes(value))
    throw new UsageError(
      `${what} ${value}: expected ${listed(choices)}${suggestion(value, choices)}`,
    );
}

function misplaced(option: OptionName, name: CommandName): UsageError {
  const taking = COMMAND_NAMES.filter((other) => {
    const { options, actions = {} } = commandRow(other);
    return [options, ...Object.values(actions).map((action) => action.options)].some(
      (rows) => option in rows,
    );
  });
  // Codex calls the file for the last message so.
  const hint =
    option === 'out' && name === 'exec' ? ending(optionHint('--output-last-message')) : '';
  if (hint !== '') return new UsageError(`--${option} cannot be used with ${name}${hint}`);
  return new UsageError(
    `--${option} cannot be used with ${name}${taking.length === 0 ? '' : `, only with ${listed(taking, 'and')}`}`,
  );
}

function ending(hint: string | null): string {
  return hint === null ? '' : `: ${hint}`;
}

function suggestion(word: string, known: readonly string[]): string {
  const nearest = suggestKey(word, known);
  return nearest === null ? '' : `: did you mean ${nearest}?`;
}

function listed(words: readonly string[], joint = 'or'): string {
  return words.length < 2
    ? words.join('')
    : `${words.slice(0, -1).join(', ')} ${joint} ${words.at(-1)}`;
}
