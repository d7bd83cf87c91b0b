import type { Clock, Timer } from '../base/clock.ts';
import type { JsonValue } from '../base/json-value.ts';
import type { Log } from '../base/log.ts';
import { orAborted } from '../base/or-aborted.ts';
import { makeFolder } from '../base/paths/make-folder.ts';
import { PausableTimers } from '../base/pausable-timers.ts';
import type { McpServerConfig } from '../config/mcp/mcp-server-config.ts';
import { type Processes, ProcessStartError } from '../sandbox/processes/processes.ts';
import { redact } from '../secrets/redact.ts';
import { redactLikelySecrets } from '../secrets/redact-likely-secrets.ts';
import { McpError } from './mcp-error.ts';
import type { HostConnection, McpHostClient, Progress } from './mcp-host-client.ts';
import type { McpServerState, McpUser } from './mcp-user.ts';
import type { CredentialStore } from './oauth/credential-store.ts';
import { ServerProcess } from './server-process.ts';
import { ServerQuestions } from './server-questions.ts';
import type { ConnectedServer, HostedServer, McpRequest, McpTool } from './to-host.ts';
import type { TokenSource } from './token-source.ts';

/** The first wait before a server is started again. It doubles with each failure. */
const RESTART_MS_MIN = 1_000;
const RESTART_MS_MAX = 60_000;
/** A server that has run so long is started again after the shortest wait. */
const STEADY_MS = 60_000;
const FAILURES_COUNTED_MAX = 10;

export interface McpServerDeps {
  host: McpHostClient;
  processes: Processes;
  clock: Clock;
  log: Log;
  tokens: TokenSource;
  /** The logins of the user. */
  credentials: CredentialStore;
}

export interface McpCallOptions {
  timeoutMs: number;
  signal: AbortSignal;
  user: McpUser | null;
  /** Given to `onQuestion` of the user. */
  tag?: unknown;
  onProgress?: (progress: Progress) => void;
}

/** One MCP server, which all threads with the same configuration share. It is started again when it has crashed. */
export class McpServer {
  readonly config: McpServerConfig;
  readonly #cwd: string;
  readonly #deps: McpServerDeps;
  readonly #users = new Set<McpUser>();
  readonly #questions: ServerQuestions;
  #state: McpServerState = { status: 'stopped' };
  #connection: HostConnection | null = null;
  #process: ServerProcess | null = null;
  #started: Promise<void> = Promise.resolve();
  #restart: Timer | null = null;
  readonly #neededScopes = new Set<string>();
  #failures = 0;
  #readySinceMs: number | null = null;
  #hasBeenReady = false;
  #connected: ConnectedServer | null = null;
  #tools: readonly McpTool[] = [];

  /** `cwd`: the absolute working directory of its process. */
  constructor(config: McpServerConfig, cwd: string, deps: McpServerDeps) {
    this.config = config;
    this.#cwd = cwd;
    this.#deps = deps;
    this.#questions = new ServerQuestions({ config, users: this.#users, tokens: deps.tokens, credentials: deps.credentials });
  }

  get state(): McpServerState {
    return this.#state;
  }

  /** Null until it was ready for the first time. */
  get connected(): ConnectedServer | null {
    return this.#connected;
  }

  /** The tools that it has, as it listed them last. */
  get tools(): readonly McpTool[] {
    return this.#tools;
  }

  /** Adds a user, and starts the server if it does not run. */
  attach(user: McpUser): void {
    this.#users.add(user);
    if (this.#state.status === 'failed' || this.#state.status === 'stopped') this.#start();
    else this.#connection?.rootsChanged();
  }

  detach(user: McpUser): void {
    this.#users.delete(user);
    if (this.#users.size > 0) this.#connection?.rootsChanged();
    else this.#restart?.clear();
  }

  get isUsed(): boolean {
    return this.#users.size > 0;
  }

  /** Resolves when it is ready or has failed, or when the signal aborts. A start takes no longer than its timeout. Never rejects. */
  async settled(signal: AbortSignal): Promise<void> {
    while (this.#state.status === 'starting' && !signal.aborted) await orAborted(this.#started, signal);
  }

  /** Sends a request. Rejects with an McpError, at once if the server is not running. */
  async request(request: McpRequest, options: McpCallOptions): Promise<JsonValue> {
    await this.settled(options.signal);
    try {
      return await this.#send(request, options);
    } catch (error) {
      if (!(error instanceof McpError) || error.kind !== 'sessionLost') throw error;
      // The server has not seen the request: it knows a new session only.
      this.#lost('the server has forgotten the session');
      this.#start();
      await this.settled(options.signal);
      return this.#send(request, options);
    }
  }

  /** The scopes that the server has asked for since the user logged in. */
  get neededScopes(): string[] {
    return [...this.#neededScopes];
  }

  /** The user has logged in: it is started again if it could not be before. */
  loggedIn(): void {
    this.#neededScopes.clear();
    if (this.#state.status === 'failed' && this.isUsed) this.#start();
  }

  /** Ends the connection and the process with everything that it has started. */
  async close({ atOnce = false } = {}): Promise<void> {
    this.#restart?.clear();
    this.#restart = null;
    this.#setState({ status: 'stopped' });
    this.#connection?.close(new McpError('closed', `the MCP server ${this.config.name} was ended`));
    this.#connection = null;
    const running = this.#process;
    this.#process = null;
    await (atOnce ? running?.kill() : running?.stop(this.#deps.clock));
  }

  async #send(request: McpRequest, { timeoutMs, signal, user, tag, onProgress }: McpCallOptions): Promise<JsonValue> {
    const connection = this.#connection;
    if (connection === null || this.#state.status !== 'ready') throw new McpError('unavailable', this.#unavailable());
    const timers = new PausableTimers(this.#deps.clock);
    const timeout = new AbortController();
    const over = new AbortController();
    const timer = timers.setTimer(() => timeout.abort(), timeoutMs);
    const unattend = this.#process?.attend(timeoutMs);
    let call = 0;
    try {
      return await connection.request(request, {
        signal: AbortSignal.any([signal, timeout.signal]),
        ...(onProgress && { onProgress }),
        begun: (number) => {
          call = number;
          this.#questions.begin(number, { user, tag, timers, over: over.signal });
        },
      });
    } catch (error) {
      if (timeout.signal.aborted && !signal.aborted)
        throw new McpError('timeout', `${this.config.name} did not answer in time: it has ${timeoutMs / 1000} seconds (tool_timeout_sec)`);
      if (!(error instanceof McpError)) throw error;
      for (const scope of error.scopes) this.#neededScopes.add(scope);
      throw this.#shown(error);
    } finally {
      timer.clear();
      unattend?.();
      this.#questions.end(call);
      over.abort();
    }
  }

  #unavailable(): string {
    const { name } = this.config;
    if (this.#state.status !== 'failed') return `the MCP server ${name} is not running`;
    const again = this.#restart === null ? '' : ' It is being started again.';
    return `the MCP server ${name} is not available: ${this.#state.error}.${again}`;
  }

  #start(): void {
    this.#restart?.clear();
    this.#restart = null;
    this.#setState({ status: 'starting' });
    this.#started = this.#connect();
  }

  async #connect(): Promise<void> {
    const { startupTimeoutMs } = this.config;
    const timeout = new AbortController();
    const timer = this.#deps.clock.setTimer(() => timeout.abort(), startupTimeoutMs);
    try {
      const ready = await orAborted(this.#handshake(timeout.signal), timeout.signal);
      if (ready === null)
        throw new McpError('timeout', `it did not start in time: it has ${startupTimeoutMs / 1000} seconds (startup_timeout_sec)`);
      if (this.#state.status !== 'starting') return;
      this.#hasBeenReady = true;
      this.#readySinceMs = this.#deps.clock.monotonic();
      this.#setState({ status: 'ready' });
    } catch (error) {
      if (this.#state.status !== 'starting') return;
      this.#failed(error);
    } finally {
      timer.clear();
    }
  }

  async #handshake(signal: AbortSignal): Promise<true> {
    const connection = await this.#open(signal);
    if (signal.aborted) return true;
    const unattend = this.#process?.attend(this.config.startupTimeoutMs);
    try {
      const connected = await connection.connected;
      this.#tools = await this.#listTools(connection, signal);
      // Only now: from here on its tools are known.
      this.#connected = connected;
      return true;
    } finally {
      unattend?.();
    }
  }

  async #listTools(connection: HostConnection, signal: AbortSignal): Promise<McpTool[]> {
    return (await connection.request({ op: 'listTools' }, { signal })) as unknown as McpTool[];
  }

  async #open(signal: AbortSignal): Promise<HostConnection> {
    const { transport, name } = this.config;
    if (transport.type === 'http') return this.#connectTo(httpServer(transport), null);
    const running: ServerProcess = new ServerProcess({
      onOutput: (bytes) => connection?.input(bytes),
      onEnded: () => {
        if (this.#process === running) this.#lost(running.ending);
      },
    });
    this.#process = running;
    let connection: HostConnection | null = null;
    connection = this.#connectTo({ type: 'stdio' }, running);
    try {
      if (transport.hasOwnFolder) await makeFolder(transport.cwd ?? this.#cwd);
      await running.start(name, { ...transport, cwd: transport.cwd ?? this.#cwd }, this.#deps.processes);
    } catch (error) {
      if (this.#process === running) this.#process = null;
      connection.close(new McpError('closed', 'its process could not be started'));
      throw error instanceof ProcessStartError ? new McpError('other', error.message) : error;
    }
    if (signal.aborted) await running.kill();
    return connection;
  }

  #connectTo(server: HostedServer, running: ServerProcess | null): HostConnection {
    const connection: HostConnection = this.#deps.host.open(server, {
      onOutput: (bytes) => running?.write(bytes),
      onTaken: (bytes) => running?.taken(bytes),
      onQuestion: (call, question, signal) => this.#questions.answer(call, question, signal),
      onToolsChanged: () => void this.#refreshTools(),
      onClosed: (reason) => {
        if (this.#connection === connection) this.#lost(reason ?? 'the connection ended');
      },
    });
    this.#connection = connection;
    return connection;
  }

  async #refreshTools(): Promise<void> {
    const connection = this.#connection;
    if (connection === null || this.#state.status !== 'ready') return;
    const timeout = new AbortController();
    const timer = this.#deps.clock.setTimer(() => timeout.abort(), this.config.startupTimeoutMs);
    try {
      this.#tools = await this.#listTools(connection, timeout.signal);
    } catch (error) {
      this.#deps.log.warn({ server: this.config.name, problem: this.#messageOf(error) }, 'an MCP server did not list its changed tools');
    } finally {
      timer.clear();
    }
  }

  /** It has ended by itself. */
  #lost(reason: string): void {
    if (this.#state.status === 'starting' || this.#state.status === 'ready') this.#failed(new McpError('closed', reason));
  }

  #failed(error: unknown): void {
    const wasSteady = this.#readySinceMs !== null && this.#deps.clock.monotonic() - this.#readySinceMs >= STEADY_MS;
    this.#readySinceMs = null;
    this.#failures = wasSteady ? 0 : Math.min(this.#failures + 1, FAILURES_COUNTED_MAX);
    const message = this.#messageOf(error);
    this.#connection?.close(new McpError('closed', `the MCP server ${this.config.name} has ended: ${message}`));
    this.#connection = null;
    void this.#process?.kill();
    this.#process = null;
    const needsLogin = error instanceof McpError && error.kind === 'unauthorized';
    if (!(error instanceof McpError)) this.#deps.log.error({ err: error, server: this.config.name }, 'an MCP server could not be started');
    this.#restart?.clear();
    this.#restart = this.#hasBeenReady && !needsLogin && this.isUsed ? this.#restartLater() : null;
    this.#setState({ status: 'failed', error: message, needsLogin });
  }

  #restartLater(): Timer {
    const ms = Math.min(RESTART_MS_MIN * 2 ** Math.max(0, this.#failures - 1), RESTART_MS_MAX);
    return this.#deps.clock.setTimer(() => {
      if (this.isUsed && this.#state.status === 'failed') this.#start();
    }, ms);
  }

  #setState(state: McpServerState): void {
    this.#state = state;
    for (const user of [...this.#users]) user.onState(state);
  }

  #shown(error: McpError): McpError {
    return new McpError(error.kind, this.#messageOf(error), error);
  }

  /** The message of an error without the secrets of the configuration. */
  #messageOf(error: unknown): string {
    return redactLikelySecrets(redact(error instanceof Error ? error.message : String(error), this.config.secrets));
  }
}

function httpServer(transport: Extract<McpServerConfig['transport'], { type: 'http' }>): HostedServer {
  const { url, headers, bearerToken } = transport;
  const hasOwn = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
  return { type: 'http', url, headers, authentication: bearerToken !== null ? 'token' : hasOwn ? 'none' : 'oauth' };
}
