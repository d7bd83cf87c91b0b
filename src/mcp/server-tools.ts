import type { McpServerConfig } from '../config/mcp/mcp-server-config.ts';
import type { HostConnection } from './host-connection.ts';
import type { McpServerDeps } from './mcp-server-deps.ts';
import type { McpToolList } from './messages/mcp-host.ts';
import { type Paced, paced } from './paced.ts';
import { shownMessage } from './shown-message.ts';

/** The least time between two lists of changed tools. */
const REFRESH_MS_MIN = 1_000;

/**
 * The tools of a server. They are listed again when it says that they have changed, as long as it
 * is ready.
 */
export class ServerTools {
  readonly #config: McpServerConfig;
  readonly #deps: McpServerDeps;
  readonly #ready: () => HostConnection | null;
  readonly #refresh: Paced;
  #listed: McpToolList = { tools: [], leftOut: [] };
  #hasChanged = false;

  /** `ready`: returns the connection while the server is ready. */
  constructor(config: McpServerConfig, deps: McpServerDeps, ready: () => HostConnection | null) {
    this.#config = config;
    this.#deps = deps;
    this.#ready = ready;
    this.#refresh = paced(() => this.#listAgain(), { everyMs: REFRESH_MS_MIN, clock: deps.clock });
  }

  /** As the server listed them last. */
  get listed(): McpToolList {
    return this.#listed;
  }

  /** The server has said that its tools have changed since it listed them. */
  get hasChanged(): boolean {
    return this.#hasChanged;
  }

  /** Lists them. Rejects with an McpError. */
  async list(connection: HostConnection, signal: AbortSignal): Promise<void> {
    this.#hasChanged = false;
    const listed = await connection.request({ op: 'listTools' }, { signal });
    this.#listed = listed as unknown as McpToolList;
  }

  /** The server says that they have changed. `isLast`: no further change has come for a moment. */
  changed(isLast: boolean): void {
    this.#hasChanged = true;
    if (isLast && this.#ready() !== null) this.#refresh.ask();
  }

  /** Lists them again if they have changed before the server was ready. */
  refreshChanged(): void {
    if (this.#hasChanged) this.#refresh.ask();
  }

  /** They are not listed again any more. */
  clear(): void {
    this.#refresh.clear();
  }

  /** Resolves with false if that should be tried again. */
  async #listAgain(): Promise<boolean> {
    const connection = this.#ready();
    if (connection === null) return true;
    const { clock, log, tokens } = this.#deps;
    const timeout = new AbortController();
    const timer = clock.setTimer(() => timeout.abort(), this.#config.startupTimeoutMs);
    try {
      await this.list(connection, timeout.signal);
      return true;
    } catch (error) {
      this.#hasChanged = true;
      log.warn(
        { server: this.#config.name, problem: shownMessage(error, this.#config, tokens) },
        'an MCP server did not list its changed tools',
      );
      return this.#ready() !== connection;
    } finally {
      timer.clear();
    }
  }
}
