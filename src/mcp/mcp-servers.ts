import type { Timer } from '../base/clock.ts';
import type { Env } from '../base/env.ts';
import { type JsonObject, withSortedKeys } from '../base/json-value.ts';
import type { McpServerConfig } from '../config/mcp/mcp-server-config.ts';
import type { McpSettings } from '../config/mcp/mcp-settings.ts';
import { requiredServersFailed } from '../protocol/errors/mcp-errors.ts';
import { McpHostClient } from './mcp-host-client.ts';
import { McpServer } from './mcp-server.ts';
import type { McpServerDeps } from './mcp-server-deps.ts';
import { type McpUser, unattended } from './mcp-user.ts';
import type { CredentialStore } from './oauth/credential-store.ts';
import { ServerTokens } from './oauth/server-tokens.ts';

/** How long a server without users keeps running. */
const IDLE_MS_MAX = 30_000;

export interface McpServersDeps extends Omit<McpServerDeps, 'host' | 'tokens'> {
  /** The server's own version. */
  version: string;
  /** Has the proxies and certificates for servers that are reached by HTTP. */
  env: Env;
  /** The built script of the thread that speaks with servers. Null: that happens in this thread. */
  script: string | null;
  /** The logins of the user. */
  credentials: CredentialStore;
}

/** A use of a server, which keeps it running until it is released. */
export interface McpLease {
  readonly server: McpServer;
  /** Can be called again. */
  release(): void;
}

interface Shared {
  server: McpServer;
  idle: Timer | null;
}

/** The running MCP servers. Uses with the same configuration share one. */
export class McpServers {
  readonly #deps: McpServersDeps;
  readonly #tokens: ServerTokens;
  readonly #shared = new Map<string, Shared>();
  readonly #ending = new Set<Promise<void>>();
  #host: McpHostClient | null = null;
  #isClosed = false;

  constructor(deps: McpServersDeps) {
    this.#deps = deps;
    this.#tokens = new ServerTokens({
      ...deps,
      refresh: (request, signal) => this.host.refreshTokens(request, signal),
    });
  }

  /** Starts a server for a user, or shares the one that runs. */
  use(config: McpServerConfig, user: McpUser): McpLease {
    const key = serverKey(config, user.root);
    const shared = this.#shared.get(key) ?? { server: this.#create(config, user.root), idle: null };
    this.#shared.set(key, shared);
    shared.idle?.clear();
    shared.idle = null;
    if (!this.#isClosed) shared.server.attach(user);
    let isReleased = false;
    return {
      server: shared.server,
      release: () => {
        if (isReleased) return;
        isReleased = true;
        shared.server.detach(user);
        if (!shared.server.isUsed && this.#shared.get(key) === shared) this.#endLater(key, shared);
      },
    };
  }

  /**
   * Waits until the servers that a configuration requires are ready. Those that have failed are
   * started again at once. They keep running for a moment, so that the thread shares them. Throws
   * an RpcError that names those that cannot be started. `root`: the working directory.
   */
  async require({ servers, problems }: McpSettings, root: string): Promise<void> {
    const failures = problems
      .filter(({ required }) => required)
      .map(({ name, error }) => `${name}: ${error.message}`);
    const needed = servers.filter(({ enabled, required }) => enabled && required);
    await Promise.all(
      needed.map(async (config) => {
        const { server, release } = this.use(config, unattended(root));
        try {
          server.startFailed();
          await server.settled(new AbortController().signal);
          if (server.state.status === 'failed')
            failures.push(`${config.name}: ${server.state.error}`);
        } finally {
          release();
        }
      }),
    );
    if (failures.length > 0) throw requiredServersFailed(failures.sort());
  }

  /** The number of servers that run or are being started. */
  get count(): number {
    return this.#shared.size;
  }

  /** Ends all servers. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const all = [...this.#shared.values()];
    this.#shared.clear();
    for (const { idle } of all) idle?.clear();
    await Promise.all([
      ...all.map(({ server }) => server.close({ atOnce: true })),
      ...this.#ending,
    ]);
    await this.#host?.close();
  }

  /** The host of all connections. It starts at the first. */
  get host(): McpHostClient {
    this.#host ??= new McpHostClient(this.#deps);
    return this.#host;
  }

  /** Starts those that have failed again, without a wait. */
  startFailed(): void {
    for (const { server } of this.#shared.values()) server.startFailed();
  }

  /** The scopes that this server has asked for since the user logged in. */
  neededScopes(config: McpServerConfig): string[] {
    return this.#sameLogin(config).flatMap(({ neededScopes }) => neededScopes);
  }

  /** The user has logged in to this server. */
  loggedIn(config: McpServerConfig): void {
    for (const server of this.#sameLogin(config)) server.loggedIn();
  }

  #sameLogin({ name, transport }: McpServerConfig): McpServer[] {
    const isSame = ({ config }: McpServer) =>
      config.name === name &&
      config.transport.type === 'http' &&
      transport.type === 'http' &&
      config.transport.url === transport.url;
    return [...this.#shared.values()].map(({ server }) => server).filter(isSame);
  }

  #create(config: McpServerConfig, cwd: string): McpServer {
    return new McpServer(config, cwd, { ...this.#deps, tokens: this.#tokens, host: this.host });
  }

  #endLater(key: string, shared: Shared): void {
    shared.idle?.clear();
    shared.idle = this.#deps.clock.setTimer(() => {
      // A turn goes on with the servers that its thread had before a reload.
      if (shared.server.isBusy) return this.#endLater(key, shared);
      this.#shared.delete(key);
      const ended = shared.server.close().finally(() => this.#ending.delete(ended));
      this.#ending.add(ended);
    }, IDLE_MS_MAX);
  }
}

/**
 * The part of a configuration that decides what runs. What a thread makes of its tools does not
 * belong to it.
 */
function serverKey({ name, transport, startupTimeoutMs }: McpServerConfig, cwd: string): string {
  const place = transport.type === 'stdio' ? (transport.cwd ?? cwd) : null;
  const ordered = withSortedKeys(transport as unknown as JsonObject);
  return JSON.stringify([name, startupTimeoutMs, place, ordered]);
}
