import type { JsonValue } from '../base/json-value.ts';
import { orAborted } from '../base/or-aborted.ts';
import { type McpServerConfig, missingTokenVariable } from '../config/mcp/mcp-server-config.ts';
import type { McpServerDeps } from './mcp-server-deps.ts';
import type { McpServerState, McpUser } from './mcp-user.ts';
import { McpError } from './messages/mcp-error.ts';
import type { ConnectedServer, McpRequest, McpTool, McpToolList } from './messages/mcp-host.ts';
import { RetryWaits } from './retry-waits.ts';
import { type McpCallOptions, ServerCalls } from './server-calls.ts';
import { ServerQuestions } from './server-questions.ts';
import { ServerRun } from './server-run.ts';
import { ServerTools } from './server-tools.ts';
import { shownMessage } from './shown-message.ts';

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
  readonly #tools: ServerTools;
  #state: McpServerState = { status: 'stopped' };
  #run: ServerRun | null = null;
  #started: Promise<void> = Promise.resolve();
  readonly #neededScopes = new Set<string>();
  #hasFailed = false;
  #connected: ConnectedServer | null = null;

  /** `cwd`: the absolute working directory of its process. */
  constructor(config: McpServerConfig, cwd: string, deps: McpServerDeps) {
    this.config = config;
    this.#cwd = cwd;
    this.#deps = deps;
    this.#restart = new RetryWaits(deps.clock);
    this.#tools = new ServerTools(config, deps, () =>
      this.#state.status === 'ready' ? (this.#run?.connection ?? null) : null,
    );
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
    return this.#tools.listed.tools;
  }

  /** The tools that are not offered. Another list when it has listed them again. */
  get leftOut(): McpToolList['leftOut'] {
    return this.#tools.listed.leftOut;
  }

  /** The server has said that its tools have changed since it listed them. */
  get hasChangedTools(): boolean {
    return this.#tools.hasChanged;
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
    this.#run?.connection.rootsChanged();
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
    const run = this.#run;
    try {
      return await this.#send(request, options);
    } catch (error) {
      if (!(error instanceof McpError) || error.kind !== 'sessionLost') throw error;
      // The server has not seen the request: it knows a new session only.
      if (run !== null) this.#beginSession(run);
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
    this.#tools.clear();
    this.#setState({ status: 'stopped' });
    const ended = new McpError('closed', `the MCP server ${this.config.name} was ended`);
    const run = this.#run;
    run?.connection.close(ended);
    this.#calls.close(ended);
    this.#run = null;
    await (atOnce ? run?.process?.kill() : run?.process?.stop(this.#deps.clock));
  }

  async #send(request: McpRequest, options: McpCallOptions): Promise<JsonValue> {
    const run = this.#run;
    if (run === null || this.#state.status !== 'ready')
      throw new McpError('unavailable', this.#unavailable());
    try {
      return await this.#calls.send(run, request, options);
    } catch (error) {
      if (!(error instanceof McpError)) throw error;
      for (const scope of error.scopes ?? []) this.#neededScopes.add(scope);
      if (error.kind === 'unauthorized' && error.scopes === null && run === this.#run)
        this.#failed(error);
      throw this.#shown(error);
    }
  }

  /**
   * Begins a new session in place of this one, unless another call has begun it. Other open calls
   * of the old session stay: the server may be answering them, or its answers say that it has not
   * seen them.
   */
  #beginSession(lost: ServerRun): void {
    if (lost !== this.#run) return;
    this.#start();
    this.#calls.retire(lost.connection);
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
    try {
      // Only when it has listed its tools: from then on they are known.
      this.#connected = await this.#newRun().start(this.#cwd, this.#tools);
      if (this.#state.status !== 'starting') return;
      this.#hasFailed = false;
      this.#restart.succeeded();
      this.#setState({ status: 'ready' });
      this.#tools.refreshChanged();
    } catch (error) {
      if (this.#state.status !== 'starting') return;
      this.#failed(error);
    }
  }

  #newRun(): ServerRun {
    const run = new ServerRun(this.config, this.#deps, {
      onQuestion: (call, question, signal) =>
        question.kind === 'token'
          ? this.#deps.tokens.answer(this.config, question.refused)
          : this.#questions.answer(call, question, signal),
      onToolsChanged: (isLast) => this.#tools.changed(isLast),
      onEnded: (reason) => {
        if (this.#run === run) this.#lost(reason);
      },
    });
    this.#run = run;
    return run;
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
    this.#run?.connection.close(
      new McpError('closed', `the MCP server ${this.config.name} has ended: ${message}`),
    );
    void this.#run?.process?.kill();
    this.#run = null;
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

  #messageOf(error: unknown): string {
    return shownMessage(error, this.config, this.#deps.tokens);
  }
}
