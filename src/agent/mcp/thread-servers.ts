import { isDeepStrictEqual } from 'node:util';
import type { McpServerConfig } from '../../config/mcp/mcp-server-config.ts';
import type { McpSettings } from '../../config/mcp/mcp-settings.ts';
import type { McpServer } from '../../mcp/mcp-server.ts';
import type { McpLease, McpServers } from '../../mcp/mcp-servers.ts';
import type { McpServerState, McpUser } from '../../mcp/mcp-user.ts';
import type { Announcement } from '../../protocol/announcement.ts';

/** A server that a thread uses. */
export interface ThreadServer {
  config: McpServerConfig;
  server: McpServer;
  user: McpUser;
}

interface Used extends ThreadServer {
  lease: McpLease;
}

interface ThreadServersDeps {
  threadId: string;
  servers: McpServers;
  /** The working directory of the thread, as it is now. */
  root(): string;
  announce(announcements: Announcement[]): void;
  onQuestion: McpUser['onQuestion'];
}

/** The MCP servers that one thread uses. */
export class ThreadServers {
  readonly #deps: ThreadServersDeps;
  readonly #used = new Map<string, Used>();
  /** Null: no servers are in use. */
  #settings: McpSettings | null = null;
  /** The working directory that the servers were told last. */
  #root: string | null = null;

  constructor(deps: ThreadServersDeps) {
    this.#deps = deps;
  }

  /** Those that are started, by name. */
  get all(): readonly ThreadServer[] {
    return [...this.#used.values()];
  }

  find(name: string): ThreadServer | null {
    return this.#used.get(name) ?? null;
  }

  /** Whether `use` was called since the last `release`. */
  get isInUse(): boolean {
    return this.#settings !== null;
  }

  /**
   * Uses exactly the enabled servers of the settings. Those that stay as they are go on, and hear
   * of another working directory.
   */
  use(settings: McpSettings): void {
    const root = this.#deps.root();
    if (root !== this.#root) for (const { server } of this.all) server.rootsChanged();
    this.#root = root;
    if (settings === this.#settings) return;
    this.#settings = settings;
    this.#change(settings);
  }

  release(): void {
    for (const { lease } of this.#used.values()) lease.release();
    this.#used.clear();
    this.#settings = null;
  }

  #change({ servers, problems }: McpSettings): void {
    const wanted = new Map(
      servers.filter(({ enabled }) => enabled).map((config) => [config.name, config]),
    );
    for (const [name, { config, lease }] of this.#used) {
      if (isDeepStrictEqual(wanted.get(name), config)) continue;
      lease.release();
      this.#used.delete(name);
      if (!wanted.has(name)) this.#announce(name, 'cancelled');
    }
    for (const { name, error } of problems) {
      this.#announce(name, 'starting');
      this.#announce(name, 'failed', error.message);
    }
    for (const [name, config] of wanted) if (!this.#used.has(name)) this.#begin(config);
  }

  #begin(config: McpServerConfig): void {
    const { servers, root, onQuestion } = this.#deps;
    let isHeard = false;
    const user: McpUser = {
      get root() {
        return root();
      },
      onQuestion,
      onState: (state) => {
        if (isHeard) this.#tell(config.name, state);
      },
    };
    const lease = servers.use(config, user);
    this.#used.set(config.name, { config, user, server: lease.server, lease });
    isHeard = true;
    this.#announce(config.name, 'starting');
    if (lease.server.state.status !== 'starting') this.#tell(config.name, lease.server.state);
  }

  #tell(name: string, state: McpServerState): void {
    if (state.status === 'failed') this.#announce(name, 'failed', state.error, state.needsLogin);
    else if (state.status !== 'stopped') this.#announce(name, state.status);
  }

  #announce(
    name: string,
    status: 'starting' | 'ready' | 'failed' | 'cancelled',
    error: string | null = null,
    needsLogin = false,
  ): void {
    const failureReason = needsLogin ? ('reauthenticationRequired' as const) : null;
    const params = { threadId: this.#deps.threadId, name, status, error, failureReason };
    this.#deps.announce([{ method: 'mcpServer/startupStatus/updated', params }]);
  }
}
