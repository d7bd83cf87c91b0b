import { APPROVAL_POLICIES } from '../../config/strictness/approval-policies.ts';
import { SANDBOX_MODES } from '../../config/strictness/sandbox-modes.ts';
import { LOG_LEVELS } from '../log/lazy-log.ts';
import type { OptionName } from './read-options.ts';

/** An option in the help and in completions. */
export interface OptionRow {
  /** The name of its value in the help. Absent: the option takes none. */
  value?: string;
  text: string;
  /** The only valid values. */
  choices?: readonly string[];
  /** Some of the valid values, for completions. */
  offers?: readonly string[];
  /** The kind of path that its value is, for completions. */
  names?: 'file' | 'folder';
}

export type OptionRows = Readonly<Partial<Record<OptionName, OptionRow>>>;

export const SETTING_OPTIONS: OptionRows = {
  config: {
    value: 'KEY=VALUE',
    text: 'override a value of config.toml; VALUE is TOML; can be repeated',
  },
  model: { value: 'NAME', text: 'use this model, like -c model=NAME' },
  profile: {
    value: 'NAME',
    text: 'use [profiles.NAME] of config.toml, and NAME.config.toml beside it, which wins',
  },
  sandbox: {
    value: 'MODE',
    text: `limit commands: ${SANDBOX_MODES.join(', ')}`,
    choices: SANDBOX_MODES,
  },
  'ask-for-approval': {
    value: 'POLICY',
    text: `when to ask for approval: ${APPROVAL_POLICIES.join(', ')}`,
    choices: APPROVAL_POLICIES,
  },
  enable: { value: 'FEATURE', text: 'like -c features.FEATURE=true; can be repeated' },
  disable: { value: 'FEATURE', text: 'like -c features.FEATURE=false; can be repeated' },
  search: { text: 'let the model search the web, like -c web_search="live"' },
  oss: { text: 'use the models of Ollama on this machine' },
  'local-provider': {
    value: 'NAME',
    text: 'use the models of this provider: ollama or lmstudio',
    choices: ['ollama', 'lmstudio'],
  },
};

export const JSON_OPTION: OptionRows = { json: { text: 'print the result as one line of JSON' } };

export const YES_OPTION: OptionRows = { yes: { text: 'do not ask first' } };

const EXPORT_FORMATS = ['jsonl', 'markdown'] as const;

export const EXPORT_OPTIONS: OptionRows = {
  format: {
    value: 'FORMAT',
    text: 'jsonl (the default: a line for the thread and for each item) or markdown',
    choices: EXPORT_FORMATS,
  },
};

/** The options of every server that runs in this process. */
export const SERVER_OPTIONS: OptionRows = {
  ...SETTING_OPTIONS,
  'strict-config': {
    text: 'do not start if the configuration has a key that heddle does not know',
  },
  cd: {
    value: 'DIR',
    text: 'the working directory of threads that do not set one',
    names: 'folder',
  },
  'model-script': {
    value: 'FILE',
    text: 'use this script (YAML or JSON) in place of the model of every thread; the exit code is 1 if the run did not follow it',
    names: 'file',
  },
  'log-level': {
    value: 'LEVEL',
    text: 'off, error, warn (the default), info or debug',
    choices: LOG_LEVELS,
  },
  'log-file': {
    value: 'FILE',
    text: 'write the log to this file instead of stderr',
    names: 'file',
  },
  'wire-log': {
    value: 'FILE',
    text: 'write all messages in both directions to this file; secrets are hidden, long strings truncated',
    names: 'file',
  },
};

/** The options of a server that listens. */
export const LISTEN_OPTIONS: OptionRows = {
  listen: {
    value: 'ADDRESS',
    text: 'where clients connect: stdio:// (the default), ws://IP:PORT, unix:// (the socket of the home), unix://PATH or off; can be repeated',
    offers: ['stdio://', 'unix://', 'ws://127.0.0.1:0', 'off'],
  },
  'ws-auth': {
    value: 'MODE',
    text: 'clients of ws:// need a token: capability-token or signed-bearer-token',
    choices: ['capability-token', 'signed-bearer-token'],
  },
  'ws-token-file': {
    value: 'FILE',
    text: 'the file with the token of capability-token',
    names: 'file',
  },
  'ws-token-sha256': { value: 'HEX', text: 'or the SHA-256 of that token' },
  'ws-shared-secret-file': {
    value: 'FILE',
    text: 'the file with the secret that signs the tokens of signed-bearer-token (HS256)',
    names: 'file',
  },
  'ws-issuer': { value: 'ISSUER', text: 'their issuer; by default any' },
  'ws-audience': { value: 'AUDIENCE', text: 'their audience; by default any' },
  'ws-max-clock-skew-seconds': {
    value: 'SECONDS',
    text: 'how far the clocks of both sides may differ; 30 by default',
  },
  'ws-allow-origin': {
    value: 'ORIGIN',
    text: 'let pages of this origin connect to ws://; can be repeated',
  },
  'ws-allow-host': {
    value: 'NAME',
    text: 'accept requests to this name of the machine; can be repeated',
  },
};

export const EXEC_LOG_LEVEL: OptionRow = {
  value: 'LEVEL',
  text: 'off (the default), error, warn, info or debug',
  choices: LOG_LEVELS,
};

export const GENERATE_OPTIONS: OptionRows = {
  out: {
    value: 'DIR',
    text: 'the folder to write to; created if it does not exist',
    names: 'folder',
  },
  experimental: { text: 'include the experimental API' },
};

/** Every command accepts these. */
export const COMMON_OPTIONS: OptionRows = {
  help: { text: 'print this help' },
  version: { text: "print the protocol's version, and heddle's" },
};
