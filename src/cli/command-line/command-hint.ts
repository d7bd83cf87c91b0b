const ASK = 'to ask the model, use heddle exec "PROMPT"';
const SERVE = 'heddle without a command serves one client on stdin and stdout';
const KEYS = 'heddle works with API keys: set OPENAI_API_KEY, or a provider in config.toml';
const ANSWER = 'in a pipe, stdout has only the last message';
const QUIET = 'to see only the answer, use 2>/dev/null';
const COLORS = 'to switch colors off, set NO_COLOR=1';
const CONTINUE = 'to continue a thread, use heddle exec --resume ID or --last';
const REVIEW = 'to have changes reviewed, use git diff | heddle exec "Review this diff."';
const FORK =
  'heddle exec continues a thread with --resume ID, but does not fork it: type thread/fork in heddle wire';
const ARCHIVE = 'type thread/archive or thread/unarchive in heddle wire';
const SERVERS = 'servers are in config.toml, as [mcp_servers.NAME]';
const CLOUD = 'heddle runs on this machine only, and has no cloud';
const FEATURES = 'features are in config.toml, as [features], and --enable and --disable set one';
const PLUGINS = 'heddle has no plugins, but MCP servers, hooks and skills, in its home';
const UPDATE = 'update heddle in the way in which you have installed it';
const DOCTOR = 'heddle doctor prints what heddle finds';
const CHECKS = 'heddle doctor looks at everything, and prints all of it';
const OTHER_HOME = 'for another configuration, set HEDDLE_HOME to another folder';
const NO_FORMATTER = 'the files need no formatter';
const THREADS = 'heddle threads list prints the stored threads';
const STORE = 'heddle store backup, restore, check, repair and vacuum work with the database';
const MCP_LIST = 'heddle mcp list shows all servers';
const LISTEN = 'to let clients connect, use --listen ws://127.0.0.1:PORT or --listen unix://';
const CONFIGURED =
  'put base_url and env_key of the provider into config.toml: heddle init writes it';

/**
 * Commands and actions of other agents, and those that people try first, with the way to do the
 * same in heddle.
 */
const COMMANDS = new Map(
  Object.entries({
    ask: ASK,
    chat: ASK,
    prompt: ASK,
    run: ASK,
    agents: 'heddle threads list lists the threads',
    lsp: SERVE,
    serve: SERVE,
    server: SERVE,
    start: SERVE,
    stdio: SERVE,
    'exec-server': SERVE,
    'mcp-server': SERVE,
    'remote-control': SERVE,
    'app-server daemon': SERVE,
    auth: KEYS,
    login: KEYS,
    logout: KEYS,
    resume: CONTINUE,
    fork: FORK,
    'exec fork': FORK,
    review: REVIEW,
    'exec review': REVIEW,
    queue: CONTINUE,
    archive: ARCHIVE,
    unarchive: ARCHIVE,
    delete: 'to delete a thread, use heddle threads delete ID',
    'migrate-rollouts': 'to continue a rollout of Codex, use heddle exec --resume FILE',
    'migrate-nfs-db': 'heddle store keeps the database in order',
    'mcp add': SERVERS,
    'mcp remove': SERVERS,
    'mcp rm': SERVERS,
    'mcp get': MCP_LIST,
    'mcp show': MCP_LIST,
    'mcp status': MCP_LIST,
    'mcp test': MCP_LIST,
    plugin: PLUGINS,
    cloud: CLOUD,
    apply: CLOUD,
    a: CLOUD,
    features: FEATURES,
    debug: 'heddle models lists the models, and heddle doctor prints what heddle finds',
    sandbox: 'type command/exec in heddle wire to run a command in the sandbox',
    update: UPDATE,
    upgrade: UPDATE,
    config: 'heddle doctor prints what heddle finds in config.toml',
    status: DOCTOR,
    health: DOCTOR,
    setup: 'heddle init writes config.toml',
    sessions: THREADS,
    history: THREADS,
    list: THREADS,
    ls: THREADS,
    import: 'heddle exec --resume FILE imports a rollout of Codex',
    backup: STORE,
    restore: STORE,
    check: STORE,
    repair: STORE,
    vacuum: STORE,
    version: 'use heddle --version',
  }),
);

/** Actions by their names in other programs, with the names that they have here. */
const ACTIONS = new Map(
  Object.entries({
    ls: 'list',
    rm: 'delete',
    remove: 'delete',
    get: 'show list',
    cat: 'show',
    find: 'search',
    auth: 'login',
  }),
);

/**
 * Options of other agents, with the way to do the same in heddle. Those of one command follow its
 * name.
 */
const OPTIONS = new Map(
  Object.entries({
    '--output-last-message': ANSWER,
    'exec -o': ANSWER,
    'exec --out': ANSWER,
    '--color': COLORS,
    '--no-color': COLORS,
    '--ascii': 'heddle writes no other signs',
    '--quiet': QUIET,
    '-q': QUIET,
    '--verbose': 'to log more, use --log-level debug',
    '-v': 'to see the version, use -V; to log more, use --log-level debug',
    '--cwd': 'to choose the folder, use -C DIR',
    '--continue': 'to continue a thread, use heddle exec --last',
    '--all': 'to continue a thread of another folder, use -C DIR or its ID',
    'doctor --all': CHECKS,
    '--summary': CHECKS,
    '--network-only': CHECKS,
    '--include-non-interactive': 'heddle exec --last looks at the threads of all clients',
    '--uncommitted': REVIEW,
    '--base': REVIEW,
    '--commit': REVIEW,
    '--title': REVIEW,
    '--experimental-json': 'use --json',
    '--trust': 'to trust the files of a project, use heddle trust',
    '--cyber-access-program': 'heddle has no such programs',
    '--ignore-user-config': OTHER_HOME,
    '--ignore-rules': OTHER_HOME,
    'exec --provider': 'to choose the provider, use -c model_provider=NAME',
    '--force': 'use --yes',
    '--env': SERVERS,
    '--url': SERVERS,
    '--bearer-token-env-var': SERVERS,
    '--oauth-client-id': SERVERS,
    '--oauth-client-secret': SERVERS,
    '--oauth-client-registration': SERVERS,
    '--oauth-resource': SERVERS,
    '--scopes': SERVERS,
    '--with-api-key': KEYS,
    '--with-access-token': KEYS,
    '--device-auth': KEYS,
    '--api-key': KEYS,
    '--print-startup-config': DOCTOR,
    '--code-mode-host': SERVE,
    '--prettier': NO_FORMATTER,
    'generate-ts -p': NO_FORMATTER,
    '--permission-profile': 'use -c default_permissions=NAME',
    '-P': 'use -c default_permissions=NAME',
    '--provider': 'to choose the provider, use -c model_provider=NAME',
    '--base-url': CONFIGURED,
    '--key': CONFIGURED,
    '--home': 'to use another home, set HEDDLE_HOME',
    '--port': LISTEN,
    '--host': LISTEN,
    '--daemon': LISTEN,
    '--debug': 'to log more, use --log-level debug',
  }),
);

/**
 * Values of options as people and other programs say them, with the values that they may have here.
 */
const VALUES = new Map(
  Object.entries({
    yes: 'accept',
    y: 'accept',
    true: 'accept',
    allow: 'accept',
    approve: 'accept',
    approved: 'accept',
    auto: 'accept',
    always: 'acceptForSession',
    session: 'acceptForSession',
    no: 'decline',
    n: 'decline',
    false: 'decline',
    deny: 'decline',
    denied: 'decline',
    reject: 'decline',
    never: 'decline',
    abort: 'cancel',
    prompt: 'ask',
    warning: 'warn',
    fatal: 'error',
    trace: 'debug',
    verbose: 'debug',
    all: 'debug',
    none: 'off',
    silent: 'off',
    quiet: 'off',
    md: 'markdown',
    json: 'jsonl',
    lsp: 'content-length',
    ndjson: 'lines',
    jsonl: 'lines',
    stdio: 'stdio://',
    full: 'danger-full-access',
    readonly: 'read-only',
    write: 'workspace-write',
  }),
);

/**
 * The end of an error about an unknown command: how to do the same in heddle. Null: nobody knows.
 */
export function commandHint(word: string): string | null {
  return COMMANDS.get(word) ?? (/\s/.test(word) ? ASK : null);
}

/**
 * Whether these words begin with a command or an action that other agents have and heddle has not.
 */
export function isForeign(words: readonly string[]): boolean {
  const [command = '', action = ''] = words;
  return COMMANDS.has(command) || COMMANDS.has(`${command} ${action}`);
}

/** The action of a command that is meant by this name. Null: none of the known ones. */
export function actionMeant(word: string, known: readonly string[]): string | null {
  return (ACTIONS.get(word) ?? '').split(' ').find((meant) => known.includes(meant)) ?? null;
}

/**
 * The end of an error about an option, given with its hyphens as it was typed. Null: nobody knows.
 */
export function optionHint(option: string, command: string): string | null {
  return OPTIONS.get(`${command} ${option}`) ?? OPTIONS.get(option) ?? null;
}

/** The end of an error about an action that a command does not have. Null: nobody knows. */
export function actionHint(command: string, action: string): string | null {
  return COMMANDS.get(`${command} ${action}`) ?? null;
}

/** The valid value that is meant by this one. Null: nobody knows. */
export function valueMeant(value: string, choices: readonly string[]): string | null {
  const meant = VALUES.get(value.toLowerCase());
  if (meant !== undefined && choices.includes(meant)) return meant;
  const [found, ...others] = choices.filter((choice) =>
    choice.split('-').includes(value.toLowerCase()),
  );
  return others.length === 0 ? (found ?? null) : null;
}
