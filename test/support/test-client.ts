import { PassThrough } from 'node:stream';
import type { JsonObject } from '../../src/base/json-value.ts';
import { Client } from '../../src/client/client.ts';
import type { ClientOptions, WireMessage } from '../../src/client/client-options.ts';
import { RequestError } from '../../src/client/request-error.ts';
import type {
  ClientRequests,
  InitializeCapabilities,
  ServerNotifications,
  Turn,
  TurnStartParams,
  UserInput,
} from '../../src/protocol/generated/types.ts';
import { problemWithSent } from './check-sent.ts';

/** A line of the server, parsed. */
export interface Message {
  id?: string | number;
  method?: string;
  /** Only of notifications, and only in the line. */
  emittedAtMs?: number;
  params?: unknown;
  result?: unknown;
  error?: ErrorBody;
}

export interface ErrorBody {
  code: number;
  message: string;
  data: JsonObject;
}

interface Waiting {
  what: string;
  take: (message: Message) => boolean;
}

/**
 * The client of the package, with additions for tests: it keeps all messages in their order and
 * checks each line. `problems` lists the invalid ones.
 */
export class TestClient {
  /** To the server. */
  readonly input = new PassThrough();
  /** From the server. */
  readonly output = new PassThrough();
  /** All messages that have come, in their order. The notifications are without `emittedAtMs`. */
  readonly messages: Message[] = [];
  /** The same messages as unparsed lines. */
  readonly lines: string[] = [];
  readonly problems: string[] = [];
  /** Resolves when the server has ended the connection. */
  ended: Promise<void> = Promise.resolve();
  readonly #received = new PassThrough();
  readonly #client: Client;
  readonly #methods = new Map<unknown, string>();
  #waiting: Waiting[] = [];

  /** `over` resolves when the server is gone, with the reason. Without it, open waits stay open. */
  constructor(over: Promise<string> = new Promise(() => {})) {
    const options: ClientOptions = {
      unhandledRequests: 'leave',
      onMessage: (message) => this.#see(message),
      onSkipped: (reason) => this.problems.push(reason),
    };
    this.#client = new Client({ input: this.#received, output: this.input }, options, over);
  }

  /** Starts reading the server's output. */
  read(): void {
    this.output.pipe(this.#received);
  }

  /** Sends `initialize` and `initialized`. */
  initialize(capabilities: InitializeCapabilities | null = { experimentalApi: true }) {
    return this.#client.initialize({ clientInfo: CLIENT_INFO, capabilities });
  }

  /** Resolves with the result of a request. Rejects with a RequestError. */
  request<Method extends keyof ClientRequests>(
    method: Method,
    params: ClientRequests[Method]['params'],
  ): Promise<ClientRequests[Method]['result']> {
    return this.call(method, params) as Promise<ClientRequests[Method]['result']>;
  }

  /** As `request`, with any method and any params. */
  async call(method: string, params?: unknown): Promise<unknown> {
    const waiting = { what: `the answer to ${method}`, take: () => false };
    this.#waiting.push(waiting);
    try {
      return await this.#client.call(method, params);
    } finally {
      this.#waiting = this.#waiting.filter((one) => one !== waiting);
    }
  }

  /** Resolves with the error of a refused request. Rejects if it is not refused. */
  async refusal(method: string, params?: unknown): Promise<ErrorBody> {
    const { error, result } = await this.ask(method, params);
    if (error === undefined)
      throw new Error(`${method} was not refused, but answered ${JSON.stringify(result)}`);
    return error;
  }

  /** Resolves with the response to a request, be it a result or an error. */
  async ask(method: string, params?: unknown): Promise<Pick<Message, 'result' | 'error'>> {
    try {
      return { result: await this.call(method, params) };
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      return {
        error: { code: error.code, message: error.message, data: error.data as JsonObject },
      };
    }
  }

  notify(method: string, params?: unknown): void {
    this.send(JSON.stringify({ method, params }));
  }

  /** Sends one line unchanged. */
  send(line: string): void {
    this.input.write(`${line}\n`);
  }

  /** The params of all notifications of a method so far. */
  notifications<Method extends keyof ServerNotifications>(
    method: Method,
    predicate: (params: ServerNotifications[Method]) => boolean = () => true,
  ): ServerNotifications[Method][] {
    const all = this.messages.filter(
      (message) => message.method === method && message.id === undefined,
    );
    return all.map(({ params }) => params as ServerNotifications[Method]).filter(predicate);
  }

  /** The params of the first matching notification, which may have come already. */
  async waitFor<Method extends keyof ServerNotifications>(
    method: Method,
    predicate: (params: ServerNotifications[Method]) => boolean = () => true,
  ): Promise<ServerNotifications[Method]> {
    const fits = (message: Message) =>
      message.method === method && predicate(message.params as ServerNotifications[Method]);
    const { params } = await this.first(method, fits);
    return params as ServerNotifications[Method];
  }

  /** The first matching message, which may have come already. */
  async first(what: string, predicate: (message: Message) => boolean): Promise<Message> {
    return this.messages.find(predicate) ?? (await this.next(what, predicate));
  }

  /** The next matching message that comes. */
  next(what: string, predicate: (message: Message) => boolean): Promise<Message> {
    return new Promise((resolve) => {
      const take = (message: Message) => {
        if (!predicate(message)) return false;
        resolve(message);
        return true;
      };
      this.#waiting.push({ what, take });
    });
  }

  /**
   * Resolves when so many messages have come, or with the first one for which `enough` returns
   * true.
   */
  async count(messages: number, enough: () => boolean): Promise<void> {
    if (this.messages.length >= messages || enough()) return;
    await this.next(`message ${messages}`, () => this.messages.length >= messages || enough());
  }

  /** The waits that are still open. */
  get waitingFor(): string[] {
    return this.#waiting.map(({ what }) => what);
  }

  /** Starts a turn. Resolves with the completed turn. */
  async turn(
    threadId: string,
    input: string | UserInput[],
    overrides: Partial<TurnStartParams> = {},
  ): Promise<Turn> {
    const { turn } = await this.request('turn/start', {
      threadId,
      input: typeof input === 'string' ? text(input) : input,
      ...overrides,
    });
    return this.turnCompleted(turn.id);
  }

  /** Resolves with the completed turn. */
  async turnCompleted(turnId: string): Promise<Turn> {
    const { turn } = await this.waitFor('turn/completed', (params) => params.turn.id === turnId);
    return turn;
  }

  /** Closes the client's side and waits for the server's. */
  async close(): Promise<void> {
    this.input.end();
    await this.ended;
  }

  #see({ direction, line, message }: WireMessage): void {
    if (direction === 'sent') this.#methods.set(message.id, String(message.method));
    else this.#take(line, message);
  }

  #take(line: string, message: Message): void {
    const problem = problemWithSent(message, (id) => this.#methods.get(id));
    if (message.method === undefined) this.#methods.delete(message.id);
    if (problem !== null) this.problems.push(`${problem}: ${line.slice(0, 2000)}`);
    this.lines.push(line);
    delete message.emittedAtMs;
    this.messages.push(message);
    this.#waiting = this.#waiting.filter(({ take }) => !take(message));
  }
}

export const CLIENT_INFO = { name: 'heddle-test', title: 'Test', version: '1.2.3' };

/** Input of one text. */
export function text(value: string): UserInput[] {
  return [{ type: 'text', text: value }];
}
