import { arch } from 'node:os';
import { ThreadGoals } from './agent/goal/thread-goals.ts';
import { TurnNotifier } from './agent/notify/turn-notifier.ts';
import { ThreadPrograms } from './agent/settings/thread-programs.ts';
import { Threads } from './agent/threads/threads.ts';
import type { TurnPartKind } from './agent/turn/turn-part.ts';
import { TURN_PART_LIST } from './agent/turn-part-list.ts';
import type { Clock } from './base/clock.ts';
import type { Env } from './base/env.ts';
import { endDrafts } from './base/files/draft-file.ts';
import { HttpClient } from './base/http/http-client.ts';
import type { Ids } from './base/ids.ts';
import type { JsonObject } from './base/json-value.ts';
import type { KeepAlive } from './base/keep-alive.ts';
import type { Log } from './base/log.ts';
import type { Pace } from './base/pace.ts';
import type { RecentLog } from './base/recent-log.ts';
import type { Config } from './config/config.ts';
import { configuredSecrets } from './config/configured-secrets.ts';
import { type ConfigSources, loadConfig } from './config/load-config.ts';
import { readStoredLogin } from './config/login/stored-login.ts';
import { chooseProvider } from './config/providers/choose-provider.ts';
import { TrustedFiles } from './config/trust/trusted-files.ts';
import { validOrNull } from './config/valid-or-null.ts';
import type { EditToml } from './config/writing/toml-edit.ts';
import { ConfigWriter } from './handlers/config-writing/config-writer.ts';
import { LoginWriter } from './handlers/config-writing/login-writer.ts';
import { storedToolApprovals } from './handlers/config-writing/stored-tool-approvals.ts';
import type { RequestMethods } from './handlers/method.ts';
import { methodTable } from './handlers/method-table.ts';
import type { DiagnosticsDeps } from './handlers/server/diagnostics.ts';
import { SkillFolders } from './instructions/skills/skill-folders.ts';
import { McpServers } from './mcp/mcp-servers.ts';
import { CredentialStore } from './mcp/oauth/credential-store.ts';
import { McpLogins } from './mcp/oauth/mcp-logins.ts';
import type { Model } from './model/model.ts';
import type { ModelPool } from './model/model-pool.ts';
import type { ScalePicture } from './model/pictures/scaled-pictures.ts';
import { providerModels } from './model/provider-models.ts';
import { RateLimits } from './model/rate-limits.ts';
import type { Dial } from './network/checked-dial.ts';
import { policyReads } from './policy/permissions/policy-reads.ts';
import type { RateLimitSnapshot } from './protocol/generated/types.ts';
import { createSandbox } from './sandbox/create-sandbox.ts';
import { guardListsFolder } from './sandbox/places/guard-list.ts';
import type { Installation } from './sandbox/places/server-places.ts';
import { createProcesses } from './sandbox/processes/create-processes.ts';
import type { Processes } from './sandbox/processes/processes.ts';
import { ServerPrograms } from './sandbox/server-programs/server-programs.ts';
import { sweepAtStart } from './sandbox/sweep-at-start.ts';
import { ClientServices } from './server/client-services.ts';
import type { Clients } from './server/clients.ts';
import { closeInOrder } from './server/close-in-order.ts';
import type { Dispatcher } from './server/dispatcher.ts';
import { serverGauges } from './server/server-gauges.ts';
import { tellOfProblems } from './server/tell-of-problems.ts';
import { UnknownNames } from './server/unknown-names.ts';
import type { NodeVersions } from './store/sqlite/connect/native-build-problem.ts';
import type { ThreadStore } from './store/thread-store.ts';
import { localProxies } from './tools/command/network/local-proxies.ts';
import { ProxyThread } from './tools/command/network/thread/proxy-thread.ts';
import { createShellExports } from './tools/command/snapshot/create-shell-exports.ts';
import type { WireTap } from './transport/wire-tap.ts';

export interface AppParts {
  /**
   * The absolute path of the folder of config.toml and of the database. Created when it is needed.
   */
  home: string;
  /** The absolute working directory of threads that name none. */
  cwd: string;
  env: Env;
  /** Settings that override config.toml. */
  overrides?: ConfigSources['overrides'];
  log: Log;
  /** The server's own version. */
  version: string;
  platform: NodeJS.Platform;
  /**
   * This process's id. Other processes get it in the error for a thread that this process has
   * loaded.
   */
  pid: number;
  /** `process.kill`. */
  sendSignal: (pid: number, signal: NodeJS.Signals) => void;
  /**
   * The resident memory of the process, in bytes, for `server/diagnostics`. Without it, the answer
   * there is null.
   */
  residentMemoryBytes?: () => number;
  /** The files that the server was started from. Commands cannot change them. */
  installation: Installation;
  /**
   * `process.versions`, to warn of a better-sqlite3 that is built for another Node. Without them
   * there is no warning.
   */
  nodeVersions?: NodeVersions;
  clock?: Clock;
  ids?: Ids;
  /**
   * Answers for every provider. Providers are then only names: they need no definition, and are
   * never asked.
   */
  model?: Model;
  /** The folder of the database, by default `home`. */
  storeDir?: string;
  /** False: nothing is written to the record of trusted files. Default: true. */
  recordsTrust?: boolean;
  /** Has the threads. Closed with the server. */
  store: ThreadStore;
  /**
   * The built script of the thread in which searches rank paths. By default they do so in this
   * thread.
   */
  searchScript?: string;
  /** Called when a client's handshake has been answered. */
  onHandshake?: () => void;
  /** The built script of the thread of commands' proxies. Absent: they are in this thread. */
  proxyScript?: string;
  /**
   * Connects the proxies of commands in this thread to hosts, by default as the system resolves
   * their names.
   */
  dial?: Dial;
  /**
   * The built script of the thread that speaks with MCP servers. By default that happens in this
   * thread.
   */
  mcpScript?: string;
  /** Further parts of every thread's turns. They act after the built-in ones. */
  partKinds?: readonly TurnPartKind[];
  /** Sees every message of every connection. */
  tap?: WireTap;
  /**
   * The absolute path of the folder with the configuration and the requirements for all users. By
   * default there is none.
   */
  systemDir?: string | null;
  /** Edits the text of config.toml. By default in this thread. */
  editToml?: EditToml;
  /** Scales a picture. By default in this thread. */
  scalePicture?: ScalePicture;
  /**
   * Called once, when responses that take much memory are under way. By default nothing is done
   * about it.
   */
  onLongResponses?: () => void;
  /** False: the start files of the user's shell are not read for its variables. Default: true. */
  readsShellExports?: boolean;
  /** Orders what happens at the same time. By default everything happens at once. */
  pacing?: Pacing;
}

/** Decides the order of everything that happens at the same time. */
export interface Pacing extends Pace {
  /** Returns processes whose output and ends are heard in a fixed order. */
  processes(inner: Processes): Processes;
  /** Returns the store with every call counted as work. */
  store(inner: ThreadStore): ThreadStore;
}

/** The parts of the server that its connections need from the start. */
export interface Front {
  clients: Clients;
  dispatcher: Dispatcher;
  clock: Clock;
  ids: Ids;
  log: RecentLog;
  keepAlive: KeepAlive;
  pace: Pacing;
  store: ThreadStore;
}

/** Everything behind the connections. */
export interface Backend {
  /** The rows of all methods but the handshake. */
  rows: RequestMethods;
  threads: Threads;
  services: ClientServices;
  unknownNames: UnknownNames;
  /** Sends a connection the warnings about the configuration and the store. Never rejects. */
  tellOfProblems(connection: number): Promise<void>;
  /**
   * Ends every turn, stores the state and releases all resources, those of the connections too.
   * Resolves with the reports of models that check their use.
   */
  close(reason?: 'shutdown' | 'clientGone'): Promise<string[]>;
}

/** Creates everything behind the connections from its parts. No other file knows all of them. */
export function createBackend(options: AppParts, front: Front): Backend {
  const { home, cwd, env, version, platform, partKinds = [] } = options;
  const base = { ...front, ...createBase(options, front) };
  const { clients, clock, ids, log, store, dispatcher } = base;
  const configuration = createConfiguration(options, base);
  const { sources, config, skillFolders } = configuration;
  const { models, listings, rateLimits } = createModels(options, base);
  const { mcp, logins } = createMcp(options, base);
  const notifier = new TurnNotifier({
    ...base,
    env,
    cwd,
    isSimulated: options.pacing !== undefined,
  });
  const threads = new Threads(
    {
      ...base,
      ...sources,
      ...listings,
      loadConfig: config,
      extraSkillRoots: () => skillFolders.extraRoots,
      modelFor: (provider) => models.get(provider),
      mcp,
      toolApprovals: storedToolApprovals({
        configWriter: configuration.changes.configWriter,
        config,
      }),
      notifier,
      http: new HttpClient({ env, clock, log }),
      partKinds: [...TURN_PART_LIST, ...partKinds],
    },
    clients,
  );
  const services = new ClientServices({ ...options, ...base });
  const rows = methodTable({
    ...services,
    credentials: base.credentials,
    logins,
    ...configuration.changes,
    threads,
    store,
    clients,
    goals: new ThreadGoals({ threads, clients, clock, config }),
    skillFolders,
    mcp,
    home,
    version,
    platform,
    env,
    cwd,
    followers: clients,
    clock,
    ids,
    config,
    rateLimits: () => rateLimits.latest,
    announceAccount: (method, params) => clients.publish('everyone', method, params),
    installedModels: listings.installedModels,
    defaultProvider: () =>
      validOrNull(async () => chooseProvider(await config(), null).provider.id),
    diagnostics: diagnosticsDeps(options, log, () =>
      serverGauges({ clients, dispatcher, threads }),
    ),
  });
  const parts = { ...base, logins, threads, notifier, services, skillFolders, mcp, models };
  return {
    rows,
    threads,
    services,
    unknownNames: new UnknownNames(log),
    tellOfProblems: (connection) =>
      tellOfProblems({ ...options, log, sources, clients }, connection),
    close: (reason) => close(parts, reason),
  };
}

/** The parts that all other parts use, beside those of the front. */
function createBase(options: AppParts, { clock, log, pace }: Front) {
  const { home, cwd, env, storeDir = home } = options;
  const { proxies, listeners } = createProxies(options, clock);
  const serverPrograms = new ServerPrograms({ clock, env });
  const guardLists = guardListsFolder(env);
  const own = { storeDir, userHome: env.HOME ?? null, guardLists };
  const sandbox = createSandbox({
    ...options,
    ...own,
    arch: arch(),
    clock,
    serverPrograms,
    listeners,
  });
  const swept = options.pacing === undefined ? sweepAtStart(guardLists, log) : Promise.resolve();
  const processes = pace.processes(createProcesses({ ...options, log, sandbox }));
  const credentials = new CredentialStore(home, clock, (secrets) => options.tap?.hide?.(secrets));
  const programs = new ThreadPrograms({ sandbox, log, env, cwd });
  serverPrograms.listBy(() => programs.all());
  const start = {
    env,
    isSimulated: options.pacing !== undefined,
    isRead: options.readsShellExports ?? true,
  };
  const shellExports = createShellExports(start, { processes, clock, log });
  return { sandbox, programs, processes, proxies, credentials, shellExports, swept };
}

type Base = Front & ReturnType<typeof createBase>;

/** The configuration, which is read anew for each thread, and what changes it. */
function createConfiguration(options: AppParts, { clients, clock, log, credentials }: Base) {
  const { home, cwd, env, overrides = [], recordsTrust = true, systemDir = null } = options;
  const trustedFiles = new TrustedFiles({ home, writes: recordsTrust });
  const modelGiven: Config['modelGiven'] = options.model?.isEmbedded
    ? 'embedded'
    : options.model !== undefined;
  const sources = { home, cwd, env, overrides, trustedFiles, modelGiven, features: {}, systemDir };
  const config = async (
    folder: string | null = null,
    request: JsonObject | null = null,
  ): Promise<Config> => {
    const loaded = await loadConfig({ ...sources, cwd: folder ?? cwd, request });
    options.tap?.hide?.([...configuredSecrets(loaded), ...credentials.secrets()]);
    return loaded;
  };
  const onChange = () => clients.publish('everyone', 'skills/changed', {});
  const skillFolders = new SkillFolders({ clock, log, home, env, config, onChange });
  const changes = { ...configChanges(options, sources), loginWriter: new LoginWriter(home) };
  return { sources, config, skillFolders, changes };
}

/** The models of the providers, and the rate limits that their responses tell. */
function createModels(
  { model, home, env, version, scalePicture = scaleHere(), onLongResponses }: AppParts,
  { clients, clock, log }: Base,
) {
  const rateLimits = new RateLimits((limits) =>
    clients.publish('everyone', 'account/rateLimits/updated', { rateLimits: limits }),
  );
  const deps = {
    ...{ env, clock, log },
    userAgent: `heddle/${version}`,
    storedLogin: () => readStoredLogin(home),
    onRateLimits: (limits: RateLimitSnapshot) => rateLimits.note(limits),
    scalePicture,
    onLongResponses,
  };
  return { ...providerModels(model ?? null, deps), rateLimits };
}

/** Scales pictures in this thread, until one cannot be decoded. */
function scaleHere(): ScalePicture {
  let isUsable = true;
  return async (picture, sideMax) => {
    const { scalePicture } = await import('./model/pictures/scale-picture.ts');
    if (!isUsable) return 'unfinished';
    const scaled = scalePicture(picture, sideMax);
    isUsable = scaled !== null;
    return scaled;
  };
}

/** The MCP servers, and the logins to them. Nothing runs before a server is configured. */
function createMcp(
  { env, version, mcpScript }: AppParts,
  { processes, clock, ids, log, credentials }: Base,
) {
  const mcp = new McpServers({
    processes,
    clock,
    log,
    env,
    version,
    credentials,
    script: mcpScript ?? null,
  });
  return { mcp, logins: new McpLogins({ servers: mcp, credentials, clock, ids }) };
}

function diagnosticsDeps(
  options: AppParts,
  log: RecentLog,
  gauges: DiagnosticsDeps['gauges'],
): DiagnosticsDeps {
  const { pid, nodeVersions, residentMemoryBytes = () => null } = options;
  return {
    pid,
    node: nodeVersions?.node ?? '',
    residentMemoryBytes,
    gauges,
    logMessages: () => log.messages(),
  };
}

/** The proxies of commands. The thread starts when a command first needs one. */
function createProxies({ proxyScript, dial, log }: AppParts, clock: Clock) {
  if (proxyScript === undefined) return { proxies: localProxies({ clock, log, dial }) };
  const thread = new ProxyThread({ script: proxyScript, log });
  return { proxies: thread, listeners: thread };
}

/** The parts with which clients change the configuration. */
function configChanges(
  { editToml = editHere }: AppParts,
  sources: ConfigSources & { features: Record<string, boolean> },
) {
  // Providers are validated too, even if this server does not use them.
  const configWith = (userText: string) => {
    // A trial must not record that the user trusts a project.
    const trustedFiles = new TrustedFiles({ home: sources.home, writes: false });
    return loadConfig({ ...sources, userText, modelGiven: false, trustedFiles });
  };
  const configWriter = new ConfigWriter({
    home: sources.home,
    editToml,
    configWith,
    further: policyReads,
  });
  return { switched: sources.features, configWriter };
}

/** The editor is loaded at its first use. */
const editHere: EditToml = async (text, edits) => {
  const { editToml } = await import('./config/writing/edit-toml.ts');
  return editToml(text, edits);
};

interface Parts
  extends Pick<Base, 'clients' | 'processes' | 'proxies' | 'shellExports' | 'store' | 'swept'> {
  threads: Threads;
  notifier: TurnNotifier;
  services: ClientServices;
  skillFolders: SkillFolders;
  mcp: McpServers;
  logins: McpLogins;
  models: ModelPool;
}

async function close(
  {
    threads,
    notifier,
    clients,
    services,
    skillFolders,
    mcp,
    logins,
    processes,
    proxies,
    shellExports,
    store,
    models,
    swept,
  }: Parts,
  reason: 'shutdown' | 'clientGone' = 'shutdown',
): Promise<string[]> {
  await closeInOrder(
    [
      () => threads.close(reason),
      () => shellExports.close?.(),
      () => services.fileSearches.close(),
      () => skillFolders.close(),
    ],
    [() => notifier.settled()],
    [() => logins.close()],
    [() => mcp.close()],
    [() => processes.close(), () => swept],
    [() => proxies.close()],
    // At the same time: a client that does not read must not delay a process that wants its
    // threads.
    [() => clients.close(), () => store.close()],
    [endDrafts],
  );
  return models.reports();
}
