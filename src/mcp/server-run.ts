import { orAborted } from '../base/or-aborted.ts';
import {
  hasOwnAuthorization,
  type McpHttp,
  type McpServerConfig,
} from '../config/mcp/mcp-server-config.ts';
import { ProcessStartError } from '../sandbox/processes/processes.ts';
import type { ConnectionEvents, HostConnection } from './host-connection.ts';
import type { McpServerDeps } from './mcp-server-deps.ts';
import { McpError } from './messages/mcp-error.ts';
import type { ConnectedServer, HostedServer } from './messages/mcp-host.ts';
import { ServerProcess } from './server-process.ts';
import type { ServerTools } from './server-tools.ts';

interface ServerRunEvents extends Pick<ConnectionEvents, 'onQuestion' | 'onToolsChanged'> {
  /** The connection or the process has ended by itself. */
  onEnded(reason: string): void;
}

/** A connection to a server, with its process, if it runs on stdio. */
export class ServerRun {
  readonly connection: HostConnection;
  readonly process: ServerProcess | null;
  readonly #config: McpServerConfig;
  readonly #deps: McpServerDeps;

  constructor(config: McpServerConfig, deps: McpServerDeps, events: ServerRunEvents) {
    const { transport } = config;
    this.#config = config;
    this.#deps = deps;
    this.process =
      transport.type === 'http'
        ? null
        : new ServerProcess({
            onOutput: (bytes) => this.connection.input(bytes),
            onEnded: events.onEnded,
          });
    const hosted = transport.type === 'http' ? httpServer(transport) : ({ type: 'stdio' } as const);
    this.connection = deps.host.open(hosted, {
      onOutput: (bytes) => this.process?.write(bytes),
      onTaken: (bytes) => this.process?.taken(bytes),
      onQuestion: events.onQuestion,
      onToolsChanged: events.onToolsChanged,
      onClosed: (reason) => events.onEnded(reason ?? 'the connection ended'),
    });
  }

  /**
   * Starts the process, if it has one, and lists the tools. `cwd`: the working directory of the
   * process, if the configuration names none. Rejects with an McpError, also if it takes longer
   * than its timeout.
   */
  async start(cwd: string, tools: ServerTools): Promise<ConnectedServer> {
    const { startupTimeoutMs } = this.#config;
    const timeout = new AbortController();
    const timer = this.#deps.clock.setTimer(() => timeout.abort(), startupTimeoutMs);
    try {
      const handshake = this.#handshake(cwd, tools, timeout.signal);
      const connected = await orAborted(handshake, timeout.signal);
      if (connected === null)
        throw new McpError(
          'timeout',
          `it did not start in time: it has ${startupTimeoutMs / 1000} seconds (startup_timeout_sec)`,
        );
      return connected;
    } finally {
      timer.clear();
    }
  }

  /** Resolves with null if the signal has aborted. */
  async #handshake(
    cwd: string,
    tools: ServerTools,
    signal: AbortSignal,
  ): Promise<ConnectedServer | null> {
    await this.#startProcess(cwd, signal);
    if (signal.aborted) return null;
    const unattend = this.process?.attend(this.#config.startupTimeoutMs);
    try {
      const connected = await this.connection.connected;
      await tools.list(this.connection, signal);
      return connected;
    } finally {
      unattend?.();
    }
  }

  async #startProcess(cwd: string, signal: AbortSignal): Promise<void> {
    const { transport, name } = this.#config;
    const starting = this.process;
    if (starting === null || transport.type === 'http') return;
    try {
      const stdio = { ...transport, cwd: transport.cwd ?? cwd };
      await starting.start(name, stdio, this.#deps.processes);
    } catch (error) {
      this.connection.close(new McpError('closed', 'its process could not be started'));
      throw error instanceof ProcessStartError ? new McpError('other', error.message) : error;
    }
    if (signal.aborted) await starting.kill();
  }
}

function httpServer(transport: McpHttp): HostedServer {
  const { url, headers } = transport;
  return {
    type: 'http',
    url,
    headers,
    authentication: hasOwnAuthorization(transport) ? 'none' : 'token',
  };
}
