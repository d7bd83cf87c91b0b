import { arch } from 'node:os';
import { ThreadGoals } from './agent/goal/thread-goals.ts';
import { Threads } from './agent/threads.ts';
import type { TurnPartKind } from './agent/turn/turn-part.ts';
import { TURN_PART_LIST } from './agent/turn-part-list.ts';
import { type Clock, systemClock } from './base/clock.ts';
import type { Env } from './base/env.ts';
import { endDrafts } from './base/files/draft-file.ts';
import { protectStore, storeFileIn } from './base/files/own-file.ts';
import { type Ids, systemIds } from './base/ids.ts';
import { KeepAlive } from './base/keep-alive.ts';
import type { Log } from './base/log.ts';
import { atOnce, type Pace } from './base/pace.ts';
import { RecentLog } from './base/recent-log.ts';
import type { Config } from './config/config.ts';
import { configDeprecations } from './config/config-deprecations.ts';
import { configWarnings } from './config/config-warnings.ts';
import { type ConfigSources, loadConfig } from './config/load-config.ts';
import { chooseProvider } from './config/providers/choose-provider.ts';
import type { ProviderConfig } from './config/providers/provider-config.ts';
import { readRuleFiles } from './config/rules-files.ts';
import { TrustedFiles } from './config/trust/trusted-files.ts';
import { validOrNull } from './config/valid-or-null.ts';
import { FileWatches } from './files/file-watches.ts';
import { ClientProcesses } from './handlers/client-processes/client-processes.ts';
import { methodTable } from './handlers/method-table.ts';
import type { DiagnosticsDeps } from './handlers/server.ts';
import { McpServers } from './mcp/mcp-servers.ts';
import { CredentialStore } from './mcp/oauth/credential-store.ts';
import { McpLogins } from './mcp/oauth/mcp-logins.ts';
import type { ProviderModelDeps } from './model/http/create-provider-model.ts';
import type { InstalledModels } from './model/http/installed-models.ts';
import type { Model } from './model/model.ts';
import { ModelPool } from './model/model-pool.ts';
import type { Dial } from './network/checked-dial.ts';
import { commandRules } from './policy/rules/parse-rules.ts';
import { ruleWarnings } from './policy/rules/rule-warnings.ts';
import { createSandbox } from './sandbox/create-sandbox.ts';
import type { Installation } from './sandbox/places/server-places.ts';
import { createProcesses } from './sandbox/processes/create-processes.ts';
import type { Processes } from './sandbox/processes/processes.ts';
import { Clients } from './server/clients.ts';
import { Connection } from './server/connection.ts';
import { Dispatcher } from './server/dispatcher.ts';
import { serverCapabilities } from './server/server-capabilities.ts';
import { serverGauges } from './server/server-gauges.ts';
import { type NodeVersions, nativeBuildProblem } from './store/sqlite/connect/native-build-problem.ts';
import type { ThreadStore } from './store/thread-store.ts';
import type { Transport } from './transport/transport.ts';
import type { WireTap } from './transport/wire-tap.ts';

export interface AppParts {
  /** The absolute path of the folder of config.toml and of the database. Created when it is needed. */
  home: string;
  /** The absolute working directory of threads that name none. */
  cwd: string;
  env: Env;
  /** Settings that override config.toml, as `key=value` strings. */
  overrides?: readonly string[];
  log: Log;
  /** The server's own version. */
  version: string;
  platform: NodeJS.Platform;
  /** This process's id. Other processes get it in the error for a thread that this process has loaded. */
  pid: number;
  /** `process.kill`. */
  sendSignal: (pid: number, signal: NodeJS.Signals) => void;
  /** The resident memory of the process, in bytes, for `server/diagnostics`. Without it, the answer there is null. */
  residentMemoryBytes?: () => number;
  /** The files that the server was started from. Commands cannot change them. */
  installation: Installation;
  /** `process.versions`, to warn of a better-sqlite3 that is built for another Node. Without them there is no warning. */
  nodeVersions?: NodeVersions;
  clock?: Clock;
  ids?: Ids;
  /** Answers for every provider. Providers are then only names: they need no definition, and are never asked. */
  model?: Model;
  /** The folder of the database, by default `home`. */
  storeDir?: string;
  /** False: nothing is written to the record of trusted files. Default: true. */
  recordsTrust?: boolean;
  /** Has the threads. Closed with the server. */
  store: ThreadStore;
  /** Called when a client's handshake has been answered. */
  onHandshake?: () => void;
  /** Connects the proxies of commands to hosts, by default as the system resolves their names. */
  dial?: Dial;
  /** The built script of the thread that speaks with MCP servers. By default that happens in this thread. */
  mcpScript?: string;
  /** Further parts of every thread's turns. They act after the built-in ones. */
  partKinds?: readonly TurnPartKind[];
  /** Sees every message of every connection. */
  tap?: WireTap;
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

/** Everything happens at once. */
const unordered: Pacing = { ...atOnce, processes: (inner) => inner, store: (inner) => inner };

export interface App {
  /**
   * Serves a client. Resolves when the client is gone and all its requests are answered, or when this server is closed. With
   * `drain`, turns that run when the client closes its side first run to their end, and the client gets their events. After that
   * no turn begins by itself.
   */
  connect(transport: Transport, options?: { drain?: boolean }): Promise<void>;
  /**
   * The number of turns that run or are being begun, of requests to clients that wait for an answer, and of requests of clients that
   * are not answered yet.
   */
  open(): { turns: number; questions: number; requests: number };
  /** Sends a text for the user to all clients. */
  warn(message: string): void;
  /**
   * Ends every turn, stores the state and releases all resources. Models read the reason: by default `shutdown`. Resolves with the
   * reports of models that check their use, such as scripted ones. There are none if every script was followed.
   */
  close(reason?: 'shutdown' | 'clientGone'): Promise<string[]>;
}

/** Creates the server from its parts. No other file knows all of them. */
export function createApp(options: AppParts): App {
  const { home, cwd, env, overrides = [], version, platform, installation } = options;
  const { clock = systemClock, ids = systemIds, storeDir = home, partKinds = [], pacing = unordered, dial = createDial(clock) } = options;
  const log = new RecentLog(options.log, clock);
  const keepAlive = new KeepAlive();
  const releaseStore = protectStore(storeFileIn(storeDir));
  const clients = new Clients({ clock, log });
  const fileWatches = createFileWatches({ clients, clock, log });
  const sandbox = createSandbox({ platform, arch: arch(), home, storeDir, clock, installation, userHome: env.HOME ?? null });
  const processes = pacing.processes(createProcesses({ ...options, log, sandbox }));
  const store = pacing.store(options.store);
  const { models, modelFor, listings } = createModels(options.model ?? null, { env, clock, log, userAgent: `heddle/${version}` });
  const trustedFiles = new TrustedFiles({ home, writes: options.recordsTrust ?? true });
  const sources = { home, cwd, env, overrides, trustedFiles, modelGiven: options.model !== undefined };
  const config = (folder: string | null = null): Promise<Config> => loadConfig({ ...sources, cwd: folder ?? cwd });
  const onHandshake = (connection: number) => {
    options.onHandshake?.();
    void Promise.all([tellOfConfig(sources, connection, { clients, log }), tellOfStore(options, connection, clients)]);
  };
  const { mcp, ...ofLogins } = createMcp(options, { processes, clock, ids, log });
  const server = { ...sources, clock, ids, log, keepAlive, pace: pacing, partKinds: [...TURN_PART_LIST, ...partKinds] };
  const threads = new Threads({ ...server, ...listings, store, clients, processes, sandbox, dial, mcp, modelFor }, clients);
  const clientProcesses = new ClientProcesses({ processes, clients, clock, log, dial, isConnected: (id) => clients.has(id) });
  const given = { env, cwd, clock, ids, config, store, clients, followers: clients };
  const rows = methodTable({
    ...given,
    threads,
    goals: new ThreadGoals({ threads, clients, clock, config }),
    fileWatches,
    mcp,
    ...ofLogins,
    clientProcesses,
    installedModels: listings.installedModels,
    defaultProvider: () => validOrNull(async () => chooseProvider(await config(), null).provider.id),
    diagnostics: diagnosticsDeps(options, log, () => serverGauges({ clients, dispatcher, threads })),
    handshake: { home, version, platform, capabilities: () => serverCapabilities(Object.keys(rows), platform), onHandshake },
  });
  const dispatcher = new Dispatcher(rows, log);
  let connections = 0;

  return {
    connect(transport, { drain = false } = {}) {
      return new Promise((resolve) => {
        const connection = new Connection(connections++, {
          transport,
          log,
          clock,
          keepAlive,
          tap: options.tap ?? null,
          onOverdue: () => {
            if (!drain) endWorkOf(connection, clientProcesses);
          },
          onInputEnd: async () => {
            await Promise.all([threads.closing, ...(drain ? [lastTurns(threads, clients), clientProcesses.ended(connection.id)] : [])]);
          },
          onRequest: (caller, method, params) => dispatcher.request(caller, method, params),
          onResponse: (caller, response) => dispatcher.answer(caller, clients.answer(response, caller.id)),
          onClosed: () => {
            fileWatches.endConnection(connection.id);
            for (const threadId of clients.remove(connection)) threads.unloadWhenIdle(threadId);
            void clientProcesses.kill(connection.id);
            resolve();
          },
        });
        clients.add(connection);
        fileWatches.open(connection.id);
        connection.listen();
      });
    },
    open() {
      return { turns: threads.turnsRunning, questions: clients.pendingCount, requests: dispatcher.inFlight + dispatcher.queued };
    },
    warn: (message) => clients.publish('everyone', 'warning', { message, threadId: null }),
    close: (reason = 'shutdown') =>
      keepAlive.during(close({ threads, clients, processes, mcp, ...ofLogins, store, models }, reason).finally(releaseStore)),
  };
}

/** The MCP servers, and the logins to them. Nothing runs before a server is configured. */
function createMcp({ home, version, mcpScript }: AppParts, { processes, clock, ids, log }: McpDeps) {
  const credentials = new CredentialStore(home);
  const mcp = new McpServers({ processes, clock, log, version, credentials, script: mcpScript ?? null });
  return { mcp, credentials, logins: new McpLogins({ servers: mcp, credentials, clock, ids }) };
}

interface McpDeps {
  processes: Processes;
  clock: Clock;
  ids: Ids;
  log: Log;
}

function diagnosticsDeps(options: AppParts, log: RecentLog, gauges: DiagnosticsDeps['gauges']): DiagnosticsDeps {
  const { pid, nodeVersions, residentMemoryBytes = () => null } = options;
  return { pid, node: nodeVersions?.node ?? '', residentMemoryBytes, gauges, logMessages: () => log.messages() };
}

/** Ends what a client's open requests wait for. */
function endWorkOf(connection: Connection, processes: ClientProcesses): void {
  connection.abandon();
  void processes.kill(connection.id);
}

/** The models of the providers, created when they are needed, or the one that replaces them. */
function createModels(given: Model | null, deps: ProviderModelDeps) {
  const models = new ModelPool(given, async (provider) => {
    const { createModel } = await import('./model/create-model.ts');
    return createModel(provider, deps);
  });
  const installedModels = async (provider: ProviderConfig): Promise<InstalledModels> => {
    const listing = await import('./model/http/installed-models.ts');
    return listing.installedModels(provider, deps);
  };
  const windows = new Map<string, Promise<ReadonlyMap<string, number>>>();
  const listedWindows = (provider: ProviderConfig) => {
    const key = JSON.stringify([provider.id, provider.baseUrl]);
    const ask = async () => {
      const { listedWindows: list } = await import('./model/http/installed-models.ts');
      const listed = await list(provider, deps);
      if (listed === null) windows.delete(key);
      return listed ?? new Map<string, number>();
    };
    const listed = windows.get(key) ?? ask();
    windows.set(key, listed);
    return listed;
  };
  return { models, modelFor: (provider: ProviderConfig) => models.get(provider), listings: { installedModels, listedWindows } };
}

/** The code that connects is loaded at the first connection. */
function createDial(clock: Clock): Dial {
  let loaded: Promise<Dial> | null = null;
  return async (...connection) => {
    loaded ??= import('./network/checked-dial.ts').then(({ checkedDial }) => checkedDial({ clock }));
    return (await loaded)(...connection);
  };
}

/** Resolves when the running turns have ended. Their questions wait no longer than a client can answer. */
function lastTurns(threads: Threads, clients: Clients): Promise<void> {
  clients.drain();
  return threads.turnsEnded();
}

/** Sends a connection the warnings about the configuration. Never rejects. */
async function tellOfConfig(sources: ConfigSources, connection: number, { clients, log }: { clients: Clients; log: Log }): Promise<void> {
  try {
    const [warnings, deprecations] = await Promise.all([configWarnings(sources), configDeprecations(sources)]);
    const ofRules = ruleWarnings(await commandRules(await readRuleFiles(sources.home)));
    for (const warning of [...warnings, ...ofRules]) clients.publish({ connection }, 'configWarning', warning);
    for (const notice of deprecations) clients.publish({ connection }, 'deprecationNotice', notice);
  } catch (error) {
    log.error({ err: error }, 'reading the configuration failed');
  }
}

/** Sends a connection a warning if threads cannot be stored with this Node, and logs it. Never rejects. */
async function tellOfStore({ nodeVersions, log }: AppParts, connection: number, clients: Clients): Promise<void> {
  try {
    const problem = nodeVersions === undefined ? null : await nativeBuildProblem(nodeVersions);
    if (problem === null) return;
    log.error({ problem }, 'the store cannot be used');
    clients.publish({ connection }, 'configWarning', { summary: problem, details: null, path: null, range: null });
  } catch (error) {
    log.error({ err: error }, 'looking at better-sqlite3 failed');
  }
}

function createFileWatches({ clients, clock, log }: { clients: Clients; clock: Clock; log: Log }): FileWatches {
  return new FileWatches({
    clock,
    log,
    notify: (connection, changed) => clients.publish({ connection }, 'fs/changed', changed),
    drained: (connection) => clients.drained({ connection }),
  });
}

interface Parts {
  threads: Threads;
  clients: Clients;
  processes: Processes;
  mcp: McpServers;
  logins: McpLogins;
  store: ThreadStore;
  models: ModelPool;
}

async function close(
  { threads, clients, processes, mcp, logins, store, models }: Parts,
  reason: 'shutdown' | 'clientGone',
): Promise<string[]> {
  await threads.close(reason);
  logins.close();
  await mcp.close();
  await processes.close();
  // At the same time: a client that does not read must not delay a process that wants its threads.
  await Promise.all([clients.close(), store.close()]);
  endDrafts();
  return models.reports();
}
