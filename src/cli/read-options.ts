import { parseArgs } from 'node:util';
import { suggestKey } from '../config/suggest-key.ts';

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

/** Options of Codex that clients pass and that change nothing here: there are no analytics, no screen and no remote control. */
const WITHOUT_EFFECT = {
  'analytics-default-enabled': flag,
  'startup-sign-out': flag,
  'startup-client-info': text,
  'session-source': text,
  'cloud-skills-snapshot': text,
  'no-alt-screen': flag,
  'no-daemon': flag,
  worktree: flag,
  image: { ...texts, short: 'i' },
  remote: text,
  'remote-auth-token-env': text,
} as const;

/** Options of Codex that would allow more, and do not here: the configuration and the requests of clients decide. */
const ALLOWING_NOTHING = {
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
  'output-schema': text,
  approve: text,
} as const;

const OPTIONS = {
  ...SETTINGS,
  ...WITHOUT_EFFECT,
  ...ALLOWING_NOTHING,
  ...OF_EXEC,
  'strict-config': flag,
  cd: { ...text, short: 'C' },
  stdio: flag,
  listen: text,
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
  help: { ...flag, short: 'h' },
  version: { ...flag, short: 'V' },
} as const;

/** Reads the options, wherever they stand. Throws an Error of one line that says what is wrong. */
export function readOptions(argv: string[]) {
  try {
    return parseArgs({ args: argv, allowPositionals: true, options: OPTIONS });
  } catch (error) {
    const [, option] = (isUnknown(error) && /^Unknown option '(-[^']*)'/.exec(error.message)) || [];
    if (option === undefined) throw error;
    const nearest = suggestKey(option.replace(/^-+/, ''), Object.keys(OPTIONS));
    throw new Error(`unknown option ${option}${nearest === null ? '' : `: did you mean --${nearest}?`}`, { cause: error });
  }
}

export type CommandLine = ReturnType<typeof readOptions>;
export type OptionValues = CommandLine['values'];

function isUnknown(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && error.code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION';
}

/** Returns the first option that is given and no setting, without its hyphens. */
export function otherThanSettings(values: OptionValues): string | undefined {
  return Object.keys(values).find((name) => !(name in SETTINGS || name in WITHOUT_EFFECT));
}

/** Returns the first option that is given and that only exec has, without its hyphens. */
export function optionOfExec(values: OptionValues): string | undefined {
  return Object.keys(values).find((name) => name in OF_EXEC);
}

/** Returns the options that are given and have no effect, with their hyphens. */
export function unusedOptions(values: OptionValues): { harmless: string[]; allowing: string[] } {
  const given = (names: object) => Object.keys(values).flatMap((name) => (name in names ? [`--${name}`] : []));
  return { harmless: given(WITHOUT_EFFECT), allowing: given(ALLOWING_NOTHING) };
}

/** The settings on the command line, as `key=value` strings. Throws an Error if a value cannot be one. */
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
    ...enable.map((name) => `features.${featureName(name)}=true`),
    ...disable.map((name) => `features.${featureName(name)}=false`),
    ...Object.entries(settings).flatMap(([key, value]) => (value === undefined ? [] : [`${key}=${JSON.stringify(value)}`])),
  ];
}

function featureName(name: string): string {
  if (!/^[\w-]+$/.test(name)) throw new Error(`--enable and --disable: expected the name of a feature, found ${JSON.stringify(name)}`);
  return name;
}
