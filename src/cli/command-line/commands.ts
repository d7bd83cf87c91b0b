import { APPROVALS } from '../exec/exec-options.ts';
import { OFFERED_PROVIDERS } from '../init/offered-providers.ts';
import {
  COMMON_OPTIONS,
  EXEC_LOG_LEVEL,
  EXPORT_OPTIONS,
  GENERATE_OPTIONS,
  JSON_OPTION,
  LISTEN_OPTIONS,
  type OptionRows,
  SERVER_OPTIONS,
  SETTING_OPTIONS,
  YES_OPTION,
} from './option-rows.ts';
import { ALLOWING_NOTHING, type OptionName, WITHOUT_EFFECT } from './read-options.ts';

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
}

export interface CommandRow extends ActionRow {
  /** The words of which one follows the name of the command. Absent: none does. */
  actions?: Readonly<Record<string, ActionRow>>;
  /** Words of Codex that can stand before its arguments, for completions. */
  forms?: readonly string[];
}

const { config, profile, enable, disable, oss, 'local-provider': localProvider } = SETTING_OPTIONS;
/** The settings of commands that ask a server. */
const SERVER_SETTINGS: OptionRows = { config, profile, enable, disable } as OptionRows;

const APP_SERVER: CommandRow = {
  arguments: '',
  summary: 'serve clients, by default one on stdin and stdout',
  options: {
    ...SERVER_OPTIONS,
    ...LISTEN_OPTIONS,
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
    sandbox: SETTING_OPTIONS.sandbox,
    'from-codex': {
      text: 'take the settings of Codex, from $CODEX_HOME or its default home; secrets, and keys that heddle does not use, are left out',
    },
    yes: { text: 'ask nothing: the default for each question that no option answers' },
    replace: { text: 'replace a config.toml that exists; the old one is kept under another name' },
  } as OptionRows,
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
  proxy: {
    arguments: '',
    summary: 'connect stdin and stdout to the socket of a server that runs',
    options: {
      sock: {
        value: 'FILE',
        text: 'the socket; by default that of the home (--listen unix://)',
        names: 'file',
      },
    },
  },
  doctor: {
    arguments: '',
    summary: 'print what a server would find, and what to do about each problem',
    options: { ...SETTING_OPTIONS, ...JSON_OPTION },
    accepts: WITHOUT_EFFECT,
  },
  trust: {
    arguments: '[FOLDER]',
    summary: 'show the project files that you have not trusted yet, and trust them',
    options: YES_OPTION,
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
  },
  completion: {
    arguments: 'bash|zsh|fish',
    summary: 'print the completions for a shell',
    options: {},
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
