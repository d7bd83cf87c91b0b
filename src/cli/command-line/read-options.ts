import { parseArgs } from 'node:util';
import { suggestKey } from '../../base/text/suggest-key.ts';
import { optionHint } from './command-hint.ts';
import { commandNamed } from './command-named.ts';
import { UsageError } from './usage-error.ts';

const text = { type: 'string' } as const;
const texts = { type: 'string', multiple: true } as const;
const flag = { type: 'boolean' } as const;

/** The options that set values of the configuration. */
const SETTINGS = {
  config: { ...texts, short: 'c' },
  enable: texts,
  disable: texts,
  model: { ...text, short: 'm' },
  profile: { ...text, short: 'p' },
  sandbox: { ...text, short: 's' },
  'ask-for-approval': { ...text, short: 'a' },
  search: flag,
  oss: flag,
  'local-provider': text,
} as const;

const NO_EFFECT = {
  'analytics-default-enabled': flag,
  'startup-sign-out': flag,
  'startup-client-info': text,
  'session-source': text,
  'cloud-skills-snapshot': text,
  'no-alt-screen': flag,
  'no-daemon': flag,
  worktree: flag,
  'skip-git-repo-check': flag,
  'thread-source': text,
  image: { ...texts, short: 'i' },
  remote: text,
  'remote-auth-token-env': text,
} as const;

const NO_ALLOWANCE = {
  'add-dir': texts,
  'approve-for-me': flag,
  'full-auto': flag,
  'dangerously-bypass-approvals-and-sandbox': flag,
  yolo: flag,
  'dangerously-bypass-hook-trust': flag,
} as const;

/** The options that only exec has. It also takes --json and --image. */
const OF_EXEC = {
  resume: text,
  last: flag,
  ephemeral: flag,
  'output-schema': text,
  approve: text,
} as const;

/** The options that only init has. It also takes --model, --sandbox and --yes. */
const OF_INIT = {
  provider: text,
  'env-key': text,
  'from-codex': flag,
  replace: flag,
} as const;

/** The options that only wire has. */
const OF_WIRE = {
  save: text,
  replay: text,
  whole: flag,
} as const;

/** The options of a server that listens. */
const OF_LISTENERS = {
  listen: texts,
  'ws-auth': text,
  'ws-token-file': text,
  'ws-token-sha256': text,
  'ws-shared-secret-file': text,
  'ws-issuer': text,
  'ws-audience': text,
  'ws-max-clock-skew-seconds': text,
  'ws-allow-origin': texts,
  'ws-allow-host': texts,
} as const;

/** The options that only proxy has. */
const OF_PROXY = { sock: text } as const;

const OPTIONS = {
  ...SETTINGS,
  ...NO_EFFECT,
  ...NO_ALLOWANCE,
  ...OF_EXEC,
  ...OF_INIT,
  ...OF_WIRE,
  ...OF_LISTENERS,
  ...OF_PROXY,
  'strict-config': flag,
  cd: { ...text, short: 'C' },
  stdio: flag,
  'model-script': text,
  framing: text,
  drain: flag,
  deterministic: flag,
  'log-level': text,
  'log-file': text,
  'wire-log': text,
  out: { ...text, short: 'o' },
  experimental: flag,
  yes: flag,
  json: flag,
  format: text,
  help: { ...flag, short: 'h' },
  version: { ...flag, short: 'V' },
} as const;

export type OptionName = keyof typeof OPTIONS;

/**
 * Options of Codex that clients and scripts pass and that change nothing here: there are no
 * analytics, no screen and no remote control, and no git repository is needed.
 */
export const WITHOUT_EFFECT = Object.keys(NO_EFFECT) as OptionName[];

/**
 * Options of Codex that would allow more, and do not here: the configuration and the requests of
 * clients decide.
 */
export const ALLOWING_NOTHING = Object.keys(NO_ALLOWANCE) as OptionName[];

const OPTION_NAMES = Object.keys(OPTIONS) as OptionName[];

/** The letter of an option. Null: it has none. */
export function letterOf(name: OptionName): string | null {
  const option = OPTIONS[name];
  return 'short' in option ? option.short : null;
}

/** What a command line has, apart from options and their values. */
interface Words {
  words: string[];
  /** The number of words before `--`. Those after it are never commands. */
  plain: number;
  /** The name of an option as it was typed first, `-o` or `--out`. Null: it was not given. */
  typed(option: string): string | null;
}

/**
 * Reads the options, wherever they stand. Throws a UsageError that says what is wrong. `taken`
 * returns the options that a command of this name takes.
 */
export function readOptions(
  argv: readonly string[],
  taken: (command: string) => readonly string[],
) {
  try {
    const { values, tokens } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: OPTIONS,
      tokens: true,
    });
    return { values, ...wordsOf(tokens) };
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    const { message } = error;
    if (error.code !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION') throw new UsageError(valueProblem(message));
    const command = commandNamed(readLeniently(argv).words);
    throw new UsageError(unknownOption(message, command, taken(command)));
  }
}

export type CommandLine = ReturnType<typeof readOptions>;
export type OptionValues = CommandLine['values'];

/** Reads the words of a command line of which the options may be wrong. */
export function readLeniently(argv: readonly string[]): Words {
  return wordsOf(
    parseArgs({
      args: [...argv],
      allowPositionals: true,
      strict: false,
      options: OPTIONS,
      tokens: true,
    }).tokens,
  );
}

type Token =
  | { kind: 'option'; name: string; rawName: string }
  | { kind: 'positional'; value: string }
  | { kind: 'option-terminator' };

function wordsOf(tokens: readonly Token[]): Words {
  const words = (some: readonly Token[]) =>
    some.flatMap((token) => (token.kind === 'positional' ? [token.value] : []));
  const end = tokens.findIndex(({ kind }) => kind === 'option-terminator');
  const typed = (option: string) => {
    const name = option.startsWith('--')
      ? option.slice(2)
      : OPTION_NAMES.find((known) => `-${letterOf(known)}` === option);
    const token = tokens.find((each) => each.kind === 'option' && each.name === name);
    return token?.kind === 'option' ? token.rawName : null;
  };
  return {
    words: words(tokens),
    plain: words(end === -1 ? tokens : tokens.slice(0, end)).length,
    typed,
  };
}

/** An option that the command takes is nearer than others. */
function unknownOption(message: string, command: string, taken: readonly string[]): string {
  const [, option = ''] = /^Unknown option '(-[^']*)'/.exec(message) ?? [];
  const hint = optionHint(option, command);
  if (hint !== null) return `unknown option ${option}: ${hint}`;
  const word = option.replace(/^-+/, '');
  const nearest = suggestKey(word, taken) ?? suggestKey(word, OPTION_NAMES);
  return `unknown option ${option}${nearest === null ? '' : `: did you mean --${nearest}?`}`;
}

/**
 * The first line of Node's message names the option and its form; the others say how to write a
 * value that begins with a hyphen.
 */
function valueProblem(message: string): string {
  const [first = '', ...others] = message.split('\n');
  const [, option = ''] = /^Option '(?:-\w, )?([^']*?)(?: <value>)?'/.exec(first) ?? [];
  if (first.includes('does not take an argument')) return `${option} takes no value`;
  const long = option.startsWith('--')
    ? option
    : `--${OPTION_NAMES.find((name) => `-${letterOf(name)}` === option)}`;
  return `${option} requires a value${others.length === 0 ? '' : `: write one that begins with a hyphen as ${long}=VALUE`}`;
}

/** Returns the options that are given and have no effect, with their hyphens. */
export function unusedOptions(values: OptionValues): { harmless: string[]; allowing: string[] } {
  const given = (names: readonly string[]) =>
    Object.keys(values).flatMap((name) => (names.includes(name) ? [`--${name}`] : []));
  return { harmless: given(WITHOUT_EFFECT), allowing: given(ALLOWING_NOTHING) };
}

/**
 * The settings on the command line, as `key=value` strings. Throws an Error if a value cannot be
 * one.
 */
export function overridesOf(values: OptionValues): string[] {
  const { config = [], enable = [], disable = [], model, profile, sandbox, search, oss } = values;
  const provider = values['local-provider'] ?? (oss === true ? 'ollama' : undefined);
  const settings = {
    model,
    profile,
    sandbox_mode: sandbox,
    approval_policy: values['ask-for-approval'],
    web_search: search === true ? 'live' : undefined,
    model_provider: provider,
  };
  return [
    ...config,
    ...enable.map((name) => `features.${featureName('--enable', name)}=true`),
    ...disable.map((name) => `features.${featureName('--disable', name)}=false`),
    ...Object.entries(settings).flatMap(([key, value]) =>
      value === undefined ? [] : [`${key}=${JSON.stringify(value)}`],
    ),
  ];
}

function featureName(option: string, name: string): string {
  if (!/^[\w-]+$/.test(name))
    throw new UsageError(`${option} ${JSON.stringify(name)}: expected the name of a feature`);
  return name;
}
