import { ThreadGoals } from './agent/goal/thread-goals.ts';
import { ToolApprovals } from './agent/mcp/tool-approvals.ts';
import { TurnNotifier } from './agent/notify/turn-notifier.ts';
import { ThreadQueues } from './agent/queue/thread-queues.ts';
import { Threads } from './agent/threads/threads.ts';
import { endDrafts } from './base/files/draft-file.ts';
import { HttpClient } from './base/http/http-client.ts';
import { chooseProvider } from './config/providers/choose-provider.ts';
import { validOrNull } from './config/valid-or-null.ts';
import { methodTable } from './handlers/method-table.ts';
import type { RequestMethods } from './handlers/requested/method.ts';
import type { Diagnostics } from './handlers/server/diagnostics.ts';
import { McpLogins } from './mcp/mcp-logins.ts';
import { McpServers } from './mcp/mcp-servers.ts';
import { CredentialStore } from './mcp/oauth/credential-store.ts';
import { ClientServices } from './server/client-services.ts';
import { closeInOrder } from './server/close-in-order.ts';
import { serverGauges } from './server/server-gauges.ts';
import { tellOfProblems } from './server/tell-of-problems.ts';
import { UnknownNames } from './server/unknown-names.ts';
import type { AppParts } from './services/app-parts.ts';
import {
  type ConfigurationServices,
  createConfiguration,
} from './services/create-configuration.ts';
import { createMachine, type MachineServices } from './services/create-machine.ts';
import { createProviders, type ProviderServices } from './services/create-providers.ts';
import type { Front } from './services/front.ts';
import type { RecentLog } from './services/recent-log.ts';
import { turnPartList } from './services/turn-part-list.ts';

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

/** The services that live as long as the server, in groups. */
interface BackendServices {
  front: Front;
  machine: MachineServices;
  configuration: ConfigurationServices;
  providers: ProviderServices;
}

/** The parts that are made of the services, and are closed before them. */
interface Features {
  threads: Threads;
  notifier: TurnNotifier;
  clientServices: ClientServices;
  mcp: McpServers;
  logins: McpLogins;
}

/** Creates everything behind the connections from its parts. No other file knows all of them. */
export function createBackend(options: AppParts, front: Front): Backend {
  const { home, cwd, env, version, platform } = options;
  const { clients, clock, ids, log, store, dispatcher } = front;
  const credentials = new CredentialStore(home, clock, (secrets) => options.tap?.hide?.(secrets));
  const services: BackendServices = {
    front,
    machine: createMachine(options, front),
    configuration: createConfiguration(options, front, () => credentials.secrets()),
    providers: createProviders(options, front),
  };
  const { machine } = services.machine;
  const { sources, config, skillFolders, changes } = services.configuration;
  const { mcp, logins } = createMcp(options, services, credentials);
  const isSimulated = options.pacing !== undefined;
  const notifier = new TurnNotifier({ ...front, ...machine, isSimulated });
  const threads = createThreads(options, services, { mcp, notifier });
  const clientServices = new ClientServices({ ...options, ...front, ...machine });
  const rows = methodTable({
    threads: {
      threads,
      store,
      clients,
      followers: clients,
      clock,
      ids,
      cwd,
      defaultProvider: () =>
        validOrNull(async () => chooseProvider(await config(), null).provider.id),
    },
    goals: new ThreadGoals({ threads, clients, clock, config }),
    queues: new ThreadQueues({ threads, store, clients, ids }),
    accounts: {
      loginWriter: changes.loginWriter,
      rateLimits: services.providers.rateLimits,
    },
    mcp: { mcp, logins, credentials },
    configured: { ...changes, config, skillFolders },
    started: clientServices,
    server: { home, version, platform, env },
    installedModels: services.providers.providers.installedModels,
    diagnostics: {
      ...diagnosticsDeps(options, log, () => serverGauges(clients, dispatcher, threads)),
      connections: clients,
    },
  });
  return {
    rows,
    threads,
    services: clientServices,
    unknownNames: new UnknownNames(log),
    tellOfProblems: (connection) =>
      tellOfProblems({ ...options, log, sources, clients }, connection),
    close: (reason) => close(services, { logins, threads, notifier, clientServices, mcp }, reason),
  };
}

/** The threads, with what only one of their parts needs bound to them. */
function createThreads(
  { partKinds = [] }: AppParts,
  { front, machine, configuration, providers }: BackendServices,
  { mcp, notifier }: Pick<Features, 'mcp' | 'notifier'>,
): Threads {
  const { clients, store, clock, log } = front;
  const { config, changes } = configuration;
  const given = {
    runtime: front,
    machine: machine.machine,
    providers: providers.providers,
    configuration: configuration.configuration,
    store,
    clients,
    mcp,
    programs: machine.programs,
  };
  const ofMcp = {
    toolApprovals: new ToolApprovals(config, changes.configWriter),
    http: new HttpClient({ env: machine.machine.env, clock, log }),
  };
  const kinds = turnPartList(ofMcp, partKinds);
  return new Threads(given, { attendance: clients, kinds, notifier });
}

/** The MCP servers, and the logins to them. Nothing runs before a server is configured. */
function createMcp(
  { version }: AppParts,
  { front: { clock, ids, log, workerScript }, machine: { machine } }: BackendServices,
  credentials: CredentialStore,
) {
  const mcp = new McpServers({
    processes: machine.processes,
    env: machine.env,
    clock,
    log,
    version,
    credentials,
    script: workerScript,
  });
  return { mcp, logins: new McpLogins({ servers: mcp, credentials, clock, ids }) };
}

function diagnosticsDeps(
  options: AppParts,
  log: RecentLog,
  gauges: Diagnostics['gauges'],
): Omit<Diagnostics, 'connections'> {
  const { pid, nodeVersions, residentMemoryBytes = () => null } = options;
  return {
    pid,
    node: nodeVersions?.node ?? '',
    residentMemoryBytes,
    gauges,
    logMessages: () => log.messages(),
  };
}

async function close(
  { front, machine, configuration, providers }: BackendServices,
  { threads, notifier, clientServices, mcp, logins }: Features,
  reason: 'shutdown' | 'clientGone' = 'shutdown',
): Promise<string[]> {
  await closeInOrder(
    [
      () => threads.close(reason),
      () => machine.machine.shellExports.close?.(),
      () => clientServices.fileSearches.close(),
      () => configuration.skillFolders.close(),
    ],
    [() => notifier.settled()],
    [() => logins.close()],
    [() => mcp.close()],
    [() => machine.machine.processes.close(), () => machine.swept],
    [() => machine.machine.proxies.close()],
    // At the same time: a client that does not read must not delay a process that wants its
    // threads.
    [() => front.clients.close(), () => front.store.close()],
    [endDrafts],
  );
  return providers.models.reports();
}
