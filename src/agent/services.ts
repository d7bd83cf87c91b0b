import type { Runtime } from '../base/runtime.ts';
import type { Configuration } from '../config/configuration.ts';
import type { McpServers } from '../mcp/mcp-servers.ts';
import type { Providers } from '../model/providers/providers.ts';
import type { ThreadStore } from '../store/thread-store.ts';
import type { Machine } from '../tools/command/machine.ts';
import type { ClientChannel } from './client-channel.ts';
import type { AgentTree } from './lineage/agent-tree.ts';
import type { ServerLimits } from './server-limits.ts';
import type { ThreadPrograms } from './settings/thread-programs.ts';

/** The services that live as long as the server, in groups, as its threads use them. */
export interface Services {
  readonly runtime: Runtime;
  readonly machine: Machine;
  readonly providers: Providers;
  readonly configuration: Configuration;
  readonly limits: ServerLimits;
  readonly store: ThreadStore;
  readonly clients: ClientChannel;
  /** The MCP servers that threads share. */
  readonly mcp: McpServers;
  /** The programs that run outside the sandbox for loaded threads. */
  readonly programs: ThreadPrograms;
  /** The agents that threads have started. */
  readonly agents: AgentTree;
}
