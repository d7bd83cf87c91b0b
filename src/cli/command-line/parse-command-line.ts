import { suggestKey } from '../../base/text/suggest-key.ts';
import { isFraming } from '../../transport/framing.ts';
import { execOptions, ownForm, requireOnePrompt } from '../exec/exec-options.ts';
import { isLogLevel } from '../log/lazy-log.ts';
import type { Request } from '../requests/run-request.ts';
import { wireOptions } from '../wire/wire-options.ts';
import { choiceProblem } from './choice-problem.ts';
import type { Command, GivenSettings, ServeOptions } from './command.ts';
import { actionHint, actionMeant, commandHint, isForeign, optionHint } from './command-hint.ts';
import { afterCommand, commandNamed } from './command-named.ts';
import {
  COMMAND_NAMES,
  type CommandName,
  commandRow,
  optionsTaken,
  type StoreAction,
} from './commands.ts';
import { listed } from './listed.ts';
import { listenOptions } from './listen-options.ts';
import { COMMON_OPTIONS, type OptionRow } from './option-rows.ts';
import {
  type CommandLine,
  type OptionName,
  type OptionValues,
  overridesOf,
  readLeniently,
  readOptions,
  unusedOptions,
} from './read-options.ts';
import type { Shell } from './show-completion.ts';
import { UsageError } from './usage-error.ts';

/** The words of a command line, which fit the row of the command. */
interface Words {
  name: CommandName;
  /** Null: the command has no actions. */
  action: string | null;
  args: string[];
  typed: CommandLine['typed'];
}

/** Throws a UsageError that says what is wrong. */
export function parseCommandLine(argv: string[]): Command {
  const { values, words, plain, typed } = read(argv);
  if (values.version === true) return { run: 'version' };
  const name = commandIn(words);
  const args = afterCommand(words);
  const form = plain > words.length - args.length ? (args[0] ?? null) : null;
  if (values.help === true || (form === 'help' && takesHelp(name)))
    return { run: 'help', command: words.length === 0 ? null : name };
  if (name !== 'exec')
    return commandFrom({ name, typed, ...actionAndArguments(name, args) }, values);
  const own = form === null ? { words: args, values } : ownForm(form, args, values);
  return commandFrom({ name, typed, action: null, args: own.words }, own.values);
}

function read(argv: string[]): CommandLine {
  // The first call of parseArgs takes about 1 % of the time of the start.
  if (!argv.some((argument) => argument.startsWith('-')))
    return { values: {}, words: argv, plain: argv.length, typed: () => null };
  try {
    return readOptions(argv, optionsTaken);
  } catch (error) {
    const { words, plain, typed } = readLeniently(argv);
    // In `review --base main` it is the command that heddle does not have.
    if (error instanceof UsageError && isForeign(words.slice(0, plain)))
      return { values: {}, words, plain, typed };
    throw error;
  }
}

/**
 * Whether the word `help` after the command asks for its help. For other commands, it may be the
 * name of a folder.
 */
function takesHelp(name: CommandName): boolean {
  const { actions, forms } = commandRow(name);
  return name === 'app-server' || actions !== undefined || forms !== undefined;
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
    case 'proxy':
      return { run: 'proxy', socket: values.sock ?? null };
    case 'doctor':
      return { run: 'doctor', settings: settingsOf(values), json };
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
      return { run: 'request', request: { kind: 'models', json }, settings: settingsOf(values) };
    case 'threads':
      return {
        run: 'request',
        request: threadsRequest(action, args, values),
        settings: settingsOf({}),
      };
    case 'mcp': {
      const [server = ''] = args;
      const request: Request =
        action === 'list'
          ? { kind: 'mcpServers', json }
          : { kind: action === 'logout' ? 'mcpLogout' : 'mcpLogin', name: server };
      return { run: 'request', request, settings: settingsOf(values) };
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

function settingsOf(values: OptionValues): GivenSettings {
  return { overrides: overridesOf(values), profile: values.profile ?? null };
}

function serveOptions(values: OptionValues): ServeOptions {
  const { framing = 'lines', 'log-level': level } = values;
  return {
    ...settingsOf(values),
    modelScript: values['model-script'] ?? null,
    framing: isFraming(framing) ? framing : 'lines',
    listen: listenOptions(values),
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

function commandIn(words: readonly string[]): CommandName {
  const found = commandNamed(words);
  const name = COMMAND_NAMES.find((known) => known === found);
  if (name === undefined)
    throw new UsageError(
      `unknown command '${found}'${ending(commandHint(found)) || suggestion(found, COMMAND_NAMES)}`,
    );
  return name;
}

function actionAndArguments(name: CommandName, words: string[]): Pick<Words, 'action' | 'args'> {
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
function requireFitting({ name, action, args, typed }: Words, values: OptionValues): void {
  const { actions, ...whole } = commandRow(name);
  const rows = [whole, ...(action === null ? [] : [actions?.[action] ?? whole])];
  const own = rows.at(-1) ?? whole;
  const command = action === null ? name : `${name} ${action}`;
  requireArguments(command, own.arguments, args);
  const options: Partial<Record<OptionName, OptionRow>> = Object.assign(
    {},
    COMMON_OPTIONS,
    ...rows.map((row) => row.options),
  );
  const accepted: readonly OptionName[] = rows.flatMap((row) => row.accepts ?? []);
  for (const [given, value] of Object.entries(values) as [OptionName, unknown][]) {
    const option = options[given];
    if (option === undefined && !accepted.includes(given))
      throw misplaced(given, { command, hint: optionHint(typed(`--${given}`) ?? '', name) });
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
  if (surplus !== undefined)
    throw new UsageError(
      `${command}: unexpected '${surplus}'${ending(actionHint(command, surplus))}`,
    );
  if (args.includes('')) throw new UsageError(`${command}: an argument is empty`);
  for (const [index, one] of names.entries()) {
    const given = args[index];
    if (one.includes('|') && given !== undefined) requireChoice(command, given, one.split('|'));
  }
}

function requireChoice(what: string, value: string, choices: readonly string[]): void {
  const problem = choiceProblem(what, value, choices);
  if (problem !== null) throw new UsageError(problem);
}

function misplaced(
  option: OptionName,
  { command, hint }: { command: string; hint: string | null },
): UsageError {
  if (hint !== null) return new UsageError(`--${option} cannot be used with ${command}: ${hint}`);
  const taking = COMMAND_NAMES.flatMap((name) => {
    const { options, actions = {} } = commandRow(name);
    if (option in options) return [name];
    return Object.entries(actions).flatMap(([action, own]) =>
      option in own.options ? [`${name} ${action}`] : [],
    );
  });
  return new UsageError(
    `--${option} cannot be used with ${command}${taking.length === 0 ? '' : `, only with ${listed(taking, 'and')}`}`,
  );
}

function ending(hint: string | null): string {
  return hint === null ? '' : `: ${hint}`;
}

function suggestion(word: string, known: readonly string[]): string {
  const nearest = suggestKey(word, known);
  return nearest === null ? '' : `: did you mean ${nearest}?`;
}
