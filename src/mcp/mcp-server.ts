import type { Clock } from '../base/clock.ts';
import type { JsonValue } from '../base/json-value.ts';
import type { Log } from '../base/log.ts';
import { orAborted } from '../base/or-aborted.ts';
import {
  hasOwnAuthorization,
  type McpHttp,
  type McpServerConfig,
  missingTokenVariable,
} from '../config/mcp/mcp-server-config.ts';
import { type Processes, ProcessStartError } from '../sandbox/processes/processes.ts';
import { longestFirst, redact } from '../secrets/redact.ts';
import { redactLikelySecrets } from '../secrets/redact-likely-secrets.ts';
import { McpError } from './mcp-error.ts';
import type { HostConnection, McpHostClient } from './mcp-host-client.ts';
import type { McpServerState, McpUser } from './mcp-user.ts';
import type { ServerTokens } from './oauth/server-tokens.ts';
import { type Paced, paced } from './paced.ts';
import { RetryWaits } from './retry-waits.ts';
import { type McpCallOptions, ServerCalls } from './server-calls.ts';
import { ServerProcess } from './server-process.ts';
import { ServerQuestions } from './server-questions.ts';
import type { ConnectedServer, HostedServer, McpRequest, McpTool, McpToolList } from './to-host.ts';

/** The least time between two lists of changed tools. */
const REFRESH_MS_MIN = 1_000;

export interface McpServerDeps {
  host: McpHostClient;
  processes: Processes;
  clock: Clock;
  log: Log;
  tokens: ServerTokens;
}

/**
 * One MCP server, which all threads with the same configuration share. It is started again when it
 * has crashed.
 */
export class McpServer {
  readonly config: McpServerConfig;
  readonly #cwd: string;
  readonly #deps: McpServerDeps;
  readonly #users = new Set<McpUser>();
  readonly #questions: ServerQuestions;
  readonly #calls: ServerCalls;
  readonly #restart: RetryWaits;
  readonly #refresh: Paced;
  #state: McpServerState = { status: 'stopped' };
  #connection: HostConnection | null = null;
  #process: ServerProcess | null = null;
  #started: Promise<void> = Promise.resolve();
  readonly #neededScopes = new Set<string>();
  #hasFailed = false;
  #connected: ConnectedServer | null = null;
  #tools: McpToolList = { tools: [], leftOut: [] };
  /** The server has said that its tools have changed since it listed them. */
  hasChangedTools = false;

  /** `cwd`: the absolute working directory of its process. */
  constructor(config: McpServerConfig, cwd: string, deps: McpServerDeps) {
    this.config = config;
    this.#cwd = cwd;
    this.#deps = deps;
    this.#restart = new RetryWaits(deps.clock);
    this.#refresh = paced(() => this.#refreshTools(), {
      everyMs: REFRESH_MS_MIN,
      clock: deps.clock,
    });
    this.#questions = new ServerQuestions({ users: this.#users });
    this.#calls = new ServerCalls({
      name: config.name,
      clock: deps.clock,
      questions: this.#questions,
    });
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
    return this.#tools.tools;
  }

  /** The tools that are not offered. Another list when it has listed them again. */
  get leftOut(): McpToolList['leftOut'] {
    return this.#tools.leftOut;
  }

  /**
   * Whether it has failed, and has not been ready since then, nor has a person had it started
   * again. Turns do not wait for such a server, even while it is being started.
   */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /**
   * Adds a user, and starts the server if it does not run. If it has failed, that waits as each
   * restart does.
   */
  attach(user: McpUser): void {
    this.#users.add(user);
    if (this.#state.status === 'stopped') this.#start();
    else if (this.#state.status === 'failed') this.#restart.whenDue(() => this.#start());
    else this.rootsChanged();
  }

  detach(user: McpUser): void {
    this.#users.delete(user);
    if (this.#users.size > 0) this.rootsChanged();
    else this.#restart.clear();
  }

  /** Tells the server that its users have other working directories. */
  rootsChanged(): void {
    this.#connection?.rootsChanged();
  }

  /** Starts it without a wait if it has failed, because a person has asked for that. */
  startFailed(): void {
    if (this.#state.status !== 'failed') return;
    this.#hasFailed = false;
    this.#restart.skip();
    if (this.isUsed) this.#start();
  }

  /** Whether calls of it are not answered yet. */
  get isBusy(): boolean {
    return this.#calls.areOpen;
  }

  get isUsed(): boolean {
    return this.#users.size > 0;
  }

  /**
   * Resolves when it is ready or has failed, or when the signal aborts. A start takes no longer
   * than its timeout. Never rejects.
   */
  async settled(signal: AbortSignal): Promise<void> {
    while (this.#state.status === 'starting' && !signal.aborted)
      await orAborted(this.#started, signal);
  }

  /** Sends a request. Rejects with an McpError, at once if the server is not running. */
  async request(request: McpRequest, options: McpCallOptions): Promise<JsonValue> {
    await this.settled(options.signal);
    const connection = this.#connection;
    try {
      return await this.#send(request, options);
    } catch (error) {
      if (!(error instanceof McpError) || error.kind !== 'sessionLost') throw error;
      // The server has not seen the request: it knows a new session only.
      if (connection !== null) this.#beginSession(connection);
      await this.settled(options.signal);
      options.beforeRepeat?.();
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
    this.startFailed();
  }

  /** Ends the connection and the process with everything that it has started. */
  async close({ atOnce = false } = {}): Promise<void> {
    this.#restart.clear();
    this.#refresh.clear();
    this.#setState({ status: 'stopped' });
    const ended = new McpError('closed', `the MCP server ${this.config.name} was ended`);
    this.#connection?.close(ended);
    this.#calls.close(ended);
    this.#connection = null;
    const running = this.#process;
    this.#process = null;
    await (atOnce ? running?.kill() : running?.stop(this.#deps.clock));
  }

  async #send(request: McpRequest, options: McpCallOptions): Promise<JsonValue> {
    const connection = this.#connection;
    if (connection === null || this.#state.status !== 'ready')
      throw new McpError('unavailable', this.#unavailable());
    try {
      return await this.#calls.send({ connection, process: this.#process }, request, options);
    } catch (error) {
      if (!(error instanceof McpError)) throw error;
      for (const scope of error.scopes ?? []) this.#neededScopes.add(scope);
      if (error.kind === 'unauthorized' && error.scopes === null && connection === this.#connection)
        this.#failed(error);
      throw this.#shown(error);
    }
  }

  /**
   * Begins a new session in place of this one, unless another call has begun it. Other open calls
   * of the old session stay: the server may be answering them, or its answers say that it has not
   * seen them.
   */
  #beginSession(lost: HostConnection): void {
    if (lost !== this.#connection) return;
    this.#start();
    this.#calls.retire(lost);
  }

  #unavailable(): string {
    const { name } = this.config;
    if (this.#state.status !== 'failed') return `the MCP server ${name} is not running`;
    const again = this.#restart.isSet ? ' It is being started again.' : '';
    return `the MCP server ${name} is not available: ${this.#state.error}.${again}`;
  }

  #start(): void {
    this.#restart.clear();
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
        throw new McpError(
          'timeout',
          `it did not start in time: it has ${startupTimeoutMs / 1000} seconds (startup_timeout_sec)`,
        );
      if (this.#state.status !== 'starting') return;
      this.#hasFailed = false;
      this.#restart.succeeded();
      this.#setState({ status: 'ready' });
      if (this.hasChangedTools) this.#refresh.ask();
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

  async #listTools(connection: HostConnection, signal: AbortSignal): Promise<McpToolList> {
    this.hasChangedTools = false;
    return (await connection.request({ op: 'listTools' }, { signal })) as unknown as McpToolList;
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
      await running.start(
        name,
        { ...transport, cwd: transport.cwd ?? this.#cwd },
        this.#deps.processes,
      );
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
      onQuestion: (call, question, signal) =>
        question.kind === 'token'
          ? this.#deps.tokens.answer(this.config, question.refused)
          : this.#questions.answer(call, question, signal),
      onToolsChanged: (isLast) => {
        this.hasChangedTools = true;
        if (isLast && this.#state.status === 'ready') this.#refresh.ask();
      },
      onClosed: (reason) => {
        if (this.#connection === connection) this.#lost(reason ?? 'the connection ended');
      },
    });
    this.#connection = connection;
    return connection;
  }

  /** Resolves with false if that should be tried again. */
  async #refreshTools(): Promise<boolean> {
    const connection = this.#connection;
    if (connection === null || this.#state.status !== 'ready') return true;
    const timeout = new AbortController();
    const timer = this.#deps.clock.setTimer(() => timeout.abort(), this.config.startupTimeoutMs);
    try {
      this.#tools = await this.#listTools(connection, timeout.signal);
      return true;
    } catch (error) {
      this.hasChangedTools = true;
      this.#deps.log.warn(
        { server: this.config.name, problem: this.#messageOf(error) },
        'an MCP server did not list its changed tools',
      );
      return this.#connection !== connection;
    } finally {
      timer.clear();
    }
  }

  /** It has ended by itself. */
  #lost(reason: string): void {
    if (this.#state.status === 'starting' || this.#state.status === 'ready')
      this.#failed(new McpError('closed', reason));
  }

  #failed(error: unknown): void {
    this.#hasFailed = true;
    this.#restart.failed();
    const isRefused = error instanceof McpError && error.kind === 'unauthorized';
    const variable = isRefused ? missingTokenVariable(this.config) : null;
    const message =
      variable === null
        ? this.#messageOf(error)
        : `the server wants a token, and the variable ${variable} is not set`;
    this.#connection?.close(
      new McpError('closed', `the MCP server ${this.config.name} has ended: ${message}`),
    );
    this.#connection = null;
    void this.#process?.kill();
    this.#process = null;
    if (!(error instanceof McpError))
      this.#deps.log.error(
        { err: error, server: this.config.name },
        'an MCP server could not be started',
      );
    if (this.#connected !== null && !isRefused && this.isUsed)
      this.#restart.whenDue(() => this.#start());
    this.#setState({
      status: 'failed',
      error: message,
      needsLogin: isRefused && variable === null,
    });
  }

  #setState(state: McpServerState): void {
    this.#state = state;
    for (const user of [...this.#users]) user.onState(state);
  }

  #shown(error: McpError): McpError {
    return new McpError(error.kind, this.#messageOf(error), error);
  }

  /** The message of an error without the secrets of the configuration and of the login. */
  #messageOf(error: unknown): string {
    const secrets = longestFirst([...this.config.secrets, ...this.#deps.tokens.given(this.config)]);
    return redactLikelySecrets(
      redact(error instanceof Error ? error.message : String(error), secrets),
    );
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
