import { methods } from '../protocol/generated/methods.ts';
import type {
  ClientRequests,
  InitializeParams,
  InitializeResponse,
  ServerNotifications,
  TurnStartParams,
  UserInput,
} from '../protocol/generated/types.ts';
import type {
  ClientOptions,
  ClientTransport,
  Notification,
  NotificationMethod,
  RequestArguments,
  RequestMethod,
  RequestOptions,
  ServerRequestHandler,
  ServerRequestMethod,
  Subscriber,
  SubscriptionOptions,
} from './client-options.ts';
import { ServerConnection } from './server-connection.ts';
import { ServerRequestHandlers } from './server-request-handlers.ts';
import { Subscriptions } from './subscriptions.ts';
import { TurnRun } from './turn-run.ts';

/** How long a server may take to end the connection once the client has closed its side. */
const CLOSE_MS_MAX = 5000;

/** What `turn` takes: the params of `turn/start`, where the input may be a text. */
export type TurnInput = Omit<TurnStartParams, 'input'> & { input: string | UserInput[] };

/**
 * A client of an app-server over two streams. What the server sends is taken at its word: it is typed by the protocol's
 * schemas, and not checked against them. Every promise settles when the connection ends.
 */
export class Client {
  /** Resolves when the connection is over, however it ended. */
  readonly closed: Promise<void>;
  readonly #transport: ClientTransport;
  readonly #connection: ServerConnection;
  readonly #handlers: ServerRequestHandlers;
  readonly #subscriptions = new Subscriptions();
  #isClosing = false;

  /** `over` resolves when the connection is over, with the reason for errors: by default when the input has ended. */
  constructor(transport: ClientTransport, options: ClientOptions = {}, over: Promise<string> = endOfStreams(transport)) {
    this.#transport = transport;
    this.#handlers = new ServerRequestHandlers(options.unhandledRequests ?? 'refuse');
    let onClosed = () => {};
    this.closed = new Promise((resolve) => {
      onClosed = resolve;
    });
    this.#connection = new ServerConnection(transport, options, {
      onNotification: (method, params) => this.#notified({ method, params } as unknown as Notification),
      onRequest: (asked) => void this.#handlers.answer(asked, this.#connection),
      onClosed: (error) => {
        this.#handlers.releaseAll();
        this.#subscriptions.finish(this.#isClosing ? null : error);
        onClosed();
      },
    });
    void over.then((reason) => this.#connection.finish(reason));
  }

  /** Makes the handshake: `initialize`, then `initialized`. */
  async initialize(params: InitializeParams, options?: RequestOptions): Promise<InitializeResponse> {
    const answer = await this.request('initialize', params, options);
    this.notify('initialized');
    return answer;
  }

  /** Resolves with the result; rejects with a RequestError when the server refuses, with a ConnectionError when it is gone. */
  request<Method extends RequestMethod>(method: Method, ...rest: RequestArguments<Method>): Promise<ClientRequests[Method]['result']> {
    const [params = methods[method]?.params === 'none' ? undefined : {}, options] = rest;
    return this.call(method, params, options) as Promise<ClientRequests[Method]['result']>;
  }

  /** As `request`, for methods that the types do not know. */
  call(method: string, params?: unknown, options?: RequestOptions): Promise<unknown> {
    return this.#connection.request(method, params, options);
  }

  /** Throws a ConnectionError when the connection is over. */
  notify(method: string, params?: unknown): void {
    this.#connection.send({ method, params });
  }

  /** Calls back with the params of each notification of this method, until what it gives is called. */
  on<Method extends NotificationMethod>(method: Method, listener: (params: ServerNotifications[Method]) => void): () => void {
    const take = (notification: Notification) => {
      if (notification.method === method) listener(notification.params as ServerNotifications[Method]);
    };
    return this.subscribe({ take, end: () => {} });
  }

  /**
   * The params of all notifications of a method from now on, as they come. The iterator ends when this client is closed,
   * and throws a ConnectionError when the connection ends otherwise, after everything that came before.
   */
  notifications<Method extends NotificationMethod>(
    method: Method,
    options: SubscriptionOptions = {},
  ): AsyncIterableIterator<ServerNotifications[Method]> {
    return this.#subscriptions.iterate(options, (notification) =>
      notification.method === method ? (notification.params as ServerNotifications[Method]) : undefined,
    );
  }

  /** As `notifications`, of all methods, each with its name. */
  events(options: SubscriptionOptions = {}): AsyncIterableIterator<Notification> {
    return this.#subscriptions.iterate(options, (notification) => notification);
  }

  /**
   * Answers a method's requests of the server, until what it gives is called. Each method has one handler at most. What a
   * handler throws is sent as an error.
   */
  handle<Method extends ServerRequestMethod>(method: Method, handler: ServerRequestHandler<Method>): () => void {
    return this.#handlers.add(method, handler as Parameters<ServerRequestHandlers['add']>[1]);
  }

  /**
   * Starts a turn, and gives its notifications up to `turn/completed`, and its result. The signal interrupts the turn,
   * which then ends as such. The client must follow the thread: who started, resumed or forked it does.
   */
  turn({ input, ...settings }: TurnInput, options: { signal?: AbortSignal } = {}): TurnRun {
    const { threadId } = settings;
    const content: UserInput[] = typeof input === 'string' ? [{ type: 'text', text: input }] : input;
    return new TurnRun(
      {
        threadId,
        start: (how) => this.request('turn/start', { ...settings, input: content }, how),
        interrupt: (turnId) => this.request('turn/interrupt', { threadId, turnId }),
        subscribe: (subscriber) => this.subscribe(subscriber),
      },
      options.signal,
    );
  }

  /** Hears all notifications, until what it gives is called. */
  subscribe(subscriber: Subscriber): () => void {
    return this.#subscriptions.add(subscriber);
  }

  /** Ends the connection: the server still answers what it has been asked. Resolves when the connection is over. */
  async close(): Promise<void> {
    this.closeOutput();
    const timer = setTimeout(() => {
      this.#connection.finish(`the server has not ended the connection within ${CLOSE_MS_MAX} ms`);
      this.#transport.input.destroy();
    }, CLOSE_MS_MAX);
    await this.closed;
    clearTimeout(timer);
  }

  /** Begins to end the connection. */
  protected closeOutput(): void {
    this.#isClosing = true;
    this.#connection.closeOutput();
  }

  #notified(notification: Notification): void {
    if (notification.method === 'serverRequest/resolved') this.#handlers.release(notification.params.requestId);
    this.#subscriptions.deliver(notification);
  }
}

/** Resolves when the server has ended its side, or either side has failed. */
function endOfStreams({ input, output }: ClientTransport): Promise<string> {
  return new Promise((resolve) => {
    const onError = (error: Error) => resolve(`the connection has failed: ${error.message}`);
    input.once('end', () => resolve('the server has ended the connection'));
    input.once('close', () => resolve('the connection has been closed'));
    input.on('error', onError);
    output.on('error', onError);
  });
}
