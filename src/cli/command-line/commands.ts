import { APPROVAL_POLICIES } from '../../config/strictness/approval-policies.ts';
import { SANDBOX_MODES } from '../../config/strictness/sandbox-modes.ts';
import { APPROVALS } from '../exec/exec-options.ts';
import { OFFERED_PROVIDERS } from '../init/offered-providers.ts';
import { LOG_LEVELS } from '../lazy-log.ts';
import { ALLOWING_NOTHING, type OptionName, WITHOUT_EFFECT } from './read-options.ts';

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

/** Something that a command can do. */
export interface ActionRow {
  /**
   * The arguments as the help shows them: `FILE`, `[FOLDER]` (optional), `WORD...` (one or more),
   * `[WORD...]` (any number), `bash|zsh|fish` (one of these).
   */
  arguments: string;
  /** Its effect, in one line. */
  summary: string;
  options: OptionRows;
  /** Further options that it accepts. The help does not show them. */
  accepts?: readonly OptionName[];
  /** The rest of its help. */
  text?: string;
}

export interface CommandRow extends ActionRow {
  /** The words of which one follows the name of the command. Absent: none does. */
  actions?: Readonly<Record<string, ActionRow>>;
  /** Words of Codex that can stand before its arguments, for completions. */
  forms?: readonly string[];
}

const SETTINGS: OptionRows = {
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

const JSON_OPTION: OptionRows = { json: { text: 'print the result as one line of JSON' } };
const YES_OPTION: OptionRows = { yes: { text: 'do not ask first' } };

const EXPORT_FORMATS = ['jsonl', 'markdown'] as const;
const EXPORT_OPTIONS: OptionRows = {
  format: {
    value: 'FORMAT',
    text: 'jsonl (the default: a line for the thread and for each item) or markdown',
    choices: EXPORT_FORMATS,
  },
};
const { config, profile, enable, disable, oss, 'local-provider': localProvider } = SETTINGS;
/** The settings of commands that ask a server. */
const SERVER_SETTINGS: OptionRows = { config, profile, enable, disable } as OptionRows;

/** The options of every server that runs in this process. */
const SERVER_OPTIONS: OptionRows = {
  ...SETTINGS,
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

const APP_SERVER: CommandRow = {
  arguments: '',
  summary: 'serve one client on stdin and stdout (the default)',
  options: {
    ...SERVER_OPTIONS,
    listen: {
      value: 'stdio://',
      text: 'the transport: only stdio:// is supported; --stdio is the same',
      choices: ['stdio://'],
    },
    framing: {
      value: 'FRAMING',
      text: 'lines (the default) or content-length, the framing of the Language Server Protocol',
      choices: ['lines', 'content-length'],
    },
    drain: { text: 'at the end of the input, let running turns finish before exiting' },
    deterministic: {
      text: 'the same output for the same input: simulated time and ids, the embedded model, no data stored',
    },
  },
  accepts: ['stdio', ...WITHOUT_EFFECT, ...ALLOWING_NOTHING],
  text: `Serves threads of coding agents to an editor or a test harness: JSON-RPC on stdin and stdout, one message per line.

Further options of Codex that clients pass, such as --analytics-default-enabled, are accepted and have no effect.

The home folder is $HEDDLE_HOME, else $CODEX_HOME, else ~/.heddle. The log level is --log-level, else $HEDDLE_LOG.`,
};

const EXEC_LOG_LEVEL: OptionRow = {
  value: 'LEVEL',
  text: 'off (the default), error, warn, info or debug',
  choices: LOG_LEVELS,
};

const EXEC: CommandRow = {
  arguments: '[PROMPT]',
  forms: ['resume'],
  summary: 'run one turn and print the answer',
  options: {
    ...SERVER_OPTIONS,
    cd: {
      value: 'DIR',
      text: 'the folder of the agent, in place of the current one',
      names: 'folder',
    },
    'log-level': EXEC_LOG_LEVEL,
    json: { text: 'print the notifications of the server, one on a line, instead of the answer' },
    resume: {
      value: 'ID',
      text: 'continue this thread; FILE imports and continues a rollout of Codex',
    },
    last: { text: 'continue the last thread of the folder' },
    ephemeral: { text: 'do not store the thread, so that it cannot be continued' },
    image: { value: 'FILE', text: 'give the model an image; can be repeated', names: 'file' },
    'output-schema': { value: 'FILE', text: 'the JSON Schema of the answer', names: 'file' },
    approve: {
      value: 'DECISION',
      text: 'what needs approval: ask (the default), accept, acceptForSession, decline or cancel',
      choices: APPROVALS,
    },
  },
  accepts: [...WITHOUT_EFFECT, ...ALLOWING_NOTHING],
  text: `Asks at the terminal for approval. Without PROMPT, or with -, stdin is the prompt; otherwise stdin is added to it. As in
Codex, heddle exec resume ID [PROMPT] is the same as --resume ID, and heddle exec resume --last [PROMPT] the same as --last. Put -- before a
prompt that begins with a hyphen, or is one of the words resume, review, fork and help. The exit code is 0 if the turn has completed, 1 if
it has failed, 130 if it was interrupted, 2 if the command line is wrong.`,
};

const INIT: CommandRow = {
  arguments: '',
  summary: 'write a config.toml, by three questions or with the settings of Codex',
  options: {
    provider: {
      value: 'NAME',
      text: `the provider: ${OFFERED_PROVIDERS.map(({ id }) => id).join(', ')}, or the URL of another API`,
      offers: OFFERED_PROVIDERS.map(({ id }) => id),
    },
    'env-key': {
      value: 'VARIABLE',
      text: 'the environment variable with the key of a provider that is a URL',
    },
    model: { value: 'NAME', text: 'its model' },
    sandbox: SETTINGS.sandbox,
    'from-codex': {
      text: 'take the settings of Codex, from $CODEX_HOME or its default home; secrets, and keys that heddle does not use, are left out',
    },
    yes: { text: 'ask nothing: the default for each question that no option answers' },
    replace: { text: 'replace a config.toml that exists; the old one is kept under another name' },
  } as OptionRows,
  text: `Asks for the provider, the model and the sandbox of commands, and writes config.toml into the home. The file has no keys: it names the
environment variables that have them.`,
};

const WIRE: CommandRow = {
  arguments: '',
  summary: 'type messages of the protocol and see the answers',
  options: {
    ...SERVER_OPTIONS,
    'log-level': EXEC_LOG_LEVEL,
    save: {
      value: 'FILE',
      text: 'write the lines that are sent to this new file, to send them again',
      names: 'file',
    },
    replay: {
      value: 'FILE',
      text: 'send the lines of this file, before those of stdin',
      names: 'file',
    },
    whole: { text: 'show long messages in full at a terminal' },
  },
  text: `At a terminal, a line is a method and its params: turn/start input="say hello". Tab completes methods, fields and values; help lists
the other commands. In a pipe, stdin has the lines, and stdout gets the messages of the server. The exit code is then 1 if a line was wrong,
a request was refused or a turn has failed. docs/wire.md has the whole language.`,
};

const GENERATE_OPTIONS: OptionRows = {
  out: {
    value: 'DIR',
    text: 'the folder to write to; created if it does not exist',
    names: 'folder',
  },
  experimental: { text: 'include the experimental API' },
};

/**
 * The commands, in the order of the help. The parser, the help and the completions read this table,
 * so an option that is not in the row of a command cannot be used with it.
 */
export const COMMANDS = {
  'app-server': APP_SERVER,
  exec: EXEC,
  init: INIT,
  wire: WIRE,
  doctor: {
    arguments: '',
    summary: 'print what a server would find, and what to do about each problem',
    options: { ...SETTINGS, ...JSON_OPTION },
    accepts: WITHOUT_EFFECT,
    text: `Checks the home, the configuration, the model provider, the sandbox and more. Changes nothing. The exit code is 0 if there is no
error, 1 if there is one.`,
  },
  trust: {
    arguments: '[FOLDER]',
    summary: 'show the project files that you have not trusted yet, and trust them',
    options: YES_OPTION,
    text: `Shows the files of the project in FOLDER (by default the current folder) that are new or have changed, and asks whether to trust
them. Until then they have no effect. The project itself must be trusted in config.toml.`,
  },
  store: {
    arguments: '',
    summary: 'keep the database of threads in order: backup, restore, check, repair, vacuum',
    options: JSON_OPTION,
    actions: {
      backup: {
        arguments: 'FILE',
        summary: 'write a complete copy to a new file; servers may run',
        options: {},
      },
      restore: {
        arguments: 'FILE',
        summary:
          'replace the database by a backup; the old one stays beside it, with the date in its name',
        options: {},
      },
      check: { arguments: '', summary: 'look for damage; servers may run', options: {} },
      repair: {
        arguments: '',
        summary:
          'copy all that can be read of a damaged database into a new one; the old one is kept',
        options: {},
      },
      vacuum: { arguments: '', summary: 'return free space to the system', options: {} },
    },
    text: 'The exit code is 0 if all is well, 1 if not.',
  },
  'generate-json-schema': {
    arguments: '',
    summary: 'write the protocol as JSON Schema and as an OpenRPC document',
    options: GENERATE_OPTIONS,
  },
  'generate-ts': {
    arguments: '',
    summary: 'write the protocol as TypeScript types',
    options: GENERATE_OPTIONS,
  },
  models: {
    arguments: '',
    summary: 'list the models of the configured provider',
    options: {
      ...SERVER_SETTINGS,
      oss,
      'local-provider': localProvider,
      ...JSON_OPTION,
    } as OptionRows,
  },
  threads: {
    arguments: '',
    summary: 'list, show, search, export and delete threads',
    options: {},
    actions: {
      list: {
        arguments: '',
        summary: 'list the threads that are not archived, the newest first',
        options: JSON_OPTION,
      },
      search: {
        arguments: 'WORD...',
        summary: 'list the threads whose name or first message has these words next to each other',
        options: JSON_OPTION,
      },
      show: { arguments: 'ID', summary: 'print a thread as Markdown', options: {} },
      export: {
        arguments: 'ID',
        summary: 'print a thread in full, for programs or people',
        options: EXPORT_OPTIONS,
      },
      delete: {
        arguments: 'ID',
        summary: 'delete a thread and its history, after asking',
        options: YES_OPTION,
      },
    },
    text: 'search looks only at names and first messages, not at the text of threads. The exit code is 1 if it finds nothing.',
  },
  mcp: {
    arguments: '',
    summary: 'list MCP servers, log in to them and out',
    options: SERVER_SETTINGS,
    actions: {
      list: {
        arguments: '',
        summary: 'start the configured MCP servers and print their state',
        options: JSON_OPTION,
      },
      login: {
        arguments: 'NAME',
        summary: 'log in to a server by OAuth: print the address to open, and wait',
        options: {},
      },
      logout: {
        arguments: 'NAME',
        summary: 'remove the login to a server from the home',
        options: {},
      },
    },
    text: 'docs/mcp.md says how servers are configured.',
  },
  completion: {
    arguments: 'bash|zsh|fish',
    summary: 'print the completions for a shell',
    options: {},
    text: `For bash, add this line to ~/.bashrc: source <(heddle completion bash)

For zsh, add this line to ~/.zshrc: source <(heddle completion zsh)

For fish: heddle completion fish > ~/.config/fish/completions/heddle.fish`,
  },
  help: { arguments: '[COMMAND...]', summary: 'print the help of a command', options: {} },
} as const satisfies Readonly<Record<string, CommandRow>>;

export type CommandName = keyof typeof COMMANDS;

export type StoreAction = keyof (typeof COMMANDS)['store']['actions'];

export const COMMAND_NAMES = Object.keys(COMMANDS) as CommandName[];

/** The row of a command, without the literal types of the table. */
export function commandRow(name: CommandName): CommandRow {
  return COMMANDS[name];
}

/** Every command accepts these. */
export const COMMON_OPTIONS: OptionRows = {
  help: { text: 'print this help' },
  version: { text: "print the protocol's version, and heddle's" },
};

/**
 * The options that a command of this name takes, also those of its actions. None if there is no
 * such command.
 */
export function optionsTaken(command: string): OptionName[] {
  const name = COMMAND_NAMES.find((known) => known === command);
  return name === undefined ? [] : (Object.keys(optionRows(commandRow(name))) as OptionName[]);
}

/** The options of a command and of its actions, with those that all commands accept. */
export function optionRows({ options, actions = {} }: CommandRow): OptionRows {
  return {
    ...options,
    ...Object.assign({}, ...Object.values(actions).map((action) => action.options)),
    ...COMMON_OPTIONS,
  };
}
