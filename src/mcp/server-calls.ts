import type { Clock } from '../base/clock.ts';
import type { JsonValue } from '../base/json-value.ts';
import { PausableTimers } from '../base/pausable-timers.ts';
import type { HostConnection } from './host-connection.ts';
import type { McpUser } from './mcp-user.ts';
import { McpError } from './messages/mcp-error.ts';
import type { McpRequest, Progress } from './messages/mcp-host.ts';
import type { ServerProcess } from './server-process.ts';
import type { ServerQuestions } from './server-questions.ts';

export interface McpCallOptions {
  timeoutMs: number;
  signal: AbortSignal;
  user: McpUser | null;
  /** Given to `onQuestion` of the user. */
  tag?: unknown;
  onProgress?: (progress: Progress) => void;
  /**
   * Called before the request is sent again in a new session, in which the server may have other
   * tools. Throws an McpError to refuse it.
   */
  beforeRepeat?: () => void;
}

interface ServerCallsDeps {
  /** The name of the server. */
  name: string;
  clock: Clock;
  questions: ServerQuestions;
}

/** A connection to the server, with its process, if it runs on stdio. */
interface CalledServer {
  connection: HostConnection;
  process: ServerProcess | null;
}

/** The requests to a server that wait for an answer. */
export class ServerCalls {
  readonly #deps: ServerCallsDeps;
  /** Their number, by their connection. */
  readonly #open = new Map<HostConnection, number>();
  readonly #retired = new Set<HostConnection>();

  constructor(deps: ServerCallsDeps) {
    this.#deps = deps;
  }

  get areOpen(): boolean {
    return this.#open.size > 0;
  }

  /** Sends a request. Rejects with an McpError. */
  async send(
    { connection, process }: CalledServer,
    request: McpRequest,
    options: McpCallOptions,
  ): Promise<JsonValue> {
    const { timeoutMs, signal, user, tag, onProgress } = options;
    const { name, clock, questions } = this.#deps;
    const timers = new PausableTimers(clock);
    const timeout = new AbortController();
    const over = new AbortController();
    const timer = timers.setTimer(() => timeout.abort(), timeoutMs);
    const unattend = process?.attend(timeoutMs);
    let call = 0;
    this.#open.set(connection, (this.#open.get(connection) ?? 0) + 1);
    try {
      return await connection.request(request, {
        signal: AbortSignal.any([signal, timeout.signal]),
        ...(onProgress && { onProgress }),
        begun: (number) => {
          call = number;
          questions.begin(number, { user, op: request.op, tag, timers, over: over.signal });
        },
      });
    } catch (error) {
      if (timeout.signal.aborted && !signal.aborted)
        throw new McpError(
          'timeout',
          `${name} did not answer in time: it has ${timeoutMs / 1000} seconds (tool_timeout_sec)`,
        );
      throw error;
    } finally {
      timer.clear();
      unattend?.();
      questions.end(call);
      over.abort();
      this.#ended(connection);
    }
  }

  /** Closes a connection as soon as its calls are answered. */
  retire(connection: HostConnection): void {
    this.#retired.add(connection);
    this.#closeIfOver(connection);
  }

  /** Closes the connections whose calls are not answered yet. */
  close(why: McpError): void {
    for (const connection of this.#open.keys()) connection.close(why);
  }

  #ended(connection: HostConnection): void {
    const open = (this.#open.get(connection) ?? 0) - 1;
    if (open > 0) this.#open.set(connection, open);
    else this.#open.delete(connection);
    this.#closeIfOver(connection);
  }

  #closeIfOver(connection: HostConnection): void {
    if (this.#open.has(connection) || !this.#retired.delete(connection)) return;
    connection.close(new McpError('closed', 'the session has ended'));
  }
}
