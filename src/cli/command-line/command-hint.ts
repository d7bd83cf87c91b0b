const ASK = 'to ask the model, use heddle exec "PROMPT"';
const SERVE = 'heddle without a command serves one client on stdin and stdout';
const KEYS = 'heddle works with API keys: set OPENAI_API_KEY, or a provider in config.toml';
const ANSWER = 'in a pipe, stdout has only the last message';
const QUIET = 'to see only the answer, use 2>/dev/null';

/**
 * Commands of other agents, and those that people try first, with the way to do the same in heddle.
 */
const COMMANDS = new Map(
  Object.entries({
    ask: ASK,
    chat: ASK,
    prompt: ASK,
    run: ASK,
    lsp: SERVE,
    serve: SERVE,
    server: SERVE,
    start: SERVE,
    stdio: SERVE,
    auth: KEYS,
    login: KEYS,
    logout: KEYS,
    resume: 'to continue a thread, use heddle exec --resume ID or --last',
    review: 'to have changes reviewed, use git diff | heddle exec "Review this diff."',
    config: 'heddle doctor prints what heddle finds in config.toml',
    status: 'heddle doctor prints what heddle finds',
    version: 'use heddle --version',
  }),
);

/** Actions by their names in other programs, with the names that they have here. */
const ACTIONS = new Map(
  Object.entries({
    ls: 'list',
    rm: 'delete',
    remove: 'delete',
    get: 'show',
    cat: 'show',
    find: 'search',
    auth: 'login',
  }),
);

/** Options of other agents, with the way to do the same in heddle. */
const OPTIONS = new Map(
  Object.entries({
    '--skip-git-repo-check': 'heddle needs no git repository',
    '--output-last-message': ANSWER,
    '--color': 'to switch colors off, set NO_COLOR=1',
    '--no-color': 'to switch colors off, set NO_COLOR=1',
    '--quiet': QUIET,
    '-q': QUIET,
    '--verbose': 'to log more, use --log-level debug',
    '-v': 'to see the version, use -V; to log more, use --log-level debug',
    '--cwd': 'to choose the folder, use -C DIR',
    '--continue': 'to continue a thread, use heddle exec --last',
  }),
);

/**
 * The end of an error about an unknown command: how to do the same in heddle. Null: nobody knows.
 */
export function commandHint(word: string): string | null {
  return COMMANDS.get(word) ?? (/\s/.test(word) ? ASK : null);
}

/** The action of a command that is meant by this name. Null: none of the known ones. */
export function actionMeant(word: string, known: readonly string[]): string | null {
  const meant = ACTIONS.get(word);
  return meant !== undefined && known.includes(meant) ? meant : null;
}

/** The end of an error about an unknown option, given with its hyphens. Null: nobody knows. */
export function optionHint(option: string): string | null {
  return OPTIONS.get(option) ?? null;
}

/** The end of an error about an action that a command does not have. Null: nobody knows. */
export function actionHint(command: string, action: string): string | null {
  if (command !== 'mcp') return null;
  if (['add', 'remove', 'rm'].includes(action))
    return 'servers are in config.toml, as [mcp_servers.NAME]';
  return ['get', 'show', 'status', 'test'].includes(action)
    ? 'heddle mcp list shows all servers'
    : null;
}
