import type { Clock } from '../base/clock.ts';
import type { Env } from '../base/env.ts';
import type { HttpClient } from '../base/http/http-client.ts';
import type { Ids } from '../base/ids.ts';
import type { JsonObject } from '../base/json-value.ts';
import type { KeepAlive } from '../base/keep-alive.ts';
import type { Log } from '../base/log.ts';
import type { Pace } from '../base/pace.ts';
import type { Config } from '../config/config.ts';
import type { ProviderConfig } from '../config/providers/provider-config.ts';
import type { McpServers } from '../mcp/mcp-servers.ts';
import type { InstalledModels } from '../model/http/installed-models.ts';
import type { Model } from '../model/model.ts';
import type { Processes } from '../sandbox/processes/processes.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { ThreadStore } from '../store/thread-store.ts';
import type { CommandProxies } from '../tools/command/network/command-proxies.ts';
import type { ShellExports } from '../tools/command/snapshot/shell-exports.ts';
import type { ClientChannel } from './client-channel.ts';
import type { ToolApprovals } from './mcp/tool-approvals.ts';
import type { TurnNotifier } from './notify/turn-notifier.ts';
import type { ThreadPrograms } from './settings/thread-programs.ts';
import type { SharedLimits } from './shared-limits.ts';
import type { AgentTree } from './sub-agents/agent-tree.ts';
import type { TurnPartKind } from './turn/turn-part-deps.ts';

/** The collaborators that backend.ts passes to the agent. */
export interface AgentDeps extends SharedLimits {
  store: ThreadStore;
  clients: ClientChannel;
  clock: Clock;
  ids: Ids;
  log: Log;
  keepAlive: KeepAlive;
  /** Decides when calls that the model made together begin. */
  pace: Pace;
  processes: Processes;
  sandbox: Sandbox;
  /** Opens the proxies of commands. */
  proxies: CommandProxies;
  /** The variables that commands get from the user's shell. */
  shellExports: ShellExports;
  /** The MCP servers that threads share. */
  mcp: McpServers;
  /** The programs that run outside the sandbox for loaded threads. */
  programs: ThreadPrograms;
  /** Stores approvals of their tools. */
  toolApprovals: ToolApprovals;
  /** Absolute: the folder of config.toml and the threads. */
  home: string;
  /** Absolute: the default working directory of threads. */
  cwd: string;
  env: Env;
  /** For requests to other servers than providers. */
  http: HttpClient;
  /**
   * Reads the configuration for a working directory, with the settings of a request; null: it has
   * none.
   */
  loadConfig(cwd: string, request: JsonObject | null): Promise<Config>;
  /** Further folders with skills, which a client has named. Absolute paths. */
  extraSkillRoots(): readonly string[];
  /** True: one model serves every provider, so none needs to be defined. */
  modelGiven: boolean | 'embedded';
  modelFor(provider: ProviderConfig): Promise<Model>;
  /** Asks a provider which models it has. Never rejects, and takes a second at most. */
  installedModels(provider: ProviderConfig): Promise<InstalledModels>;
  /**
   * Asks a provider for the context windows of its models, by their ids, until it has listed them
   * once. Never rejects, and takes five seconds at most.
   */
  listedWindows(provider: ProviderConfig): Promise<ReadonlyMap<string, number>>;
  /** The parts that every thread's turns have, in the order in which they act. */
  partKinds: readonly TurnPartKind[];
  /** The agents that threads have started. */
  agents: AgentTree;
  /** Runs the user's program after turns. */
  notifier: Pick<TurnNotifier, 'turnEnded'>;
  /** Called after a turn has ended and its end has been announced. */
  onTurnEnded(threadId: string, turnId: string): void;
}
