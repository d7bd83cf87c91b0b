import { requireNoTypo } from '../base/text/require-no-typo.ts';
import { KIND, requireOptions } from '../base/text/require-options.ts';
import { methods, serverNotifications, serverRequests } from '../protocol/generated/methods.ts';
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

const SUBSCRIPTION_OPTIONS = { threadId: KIND.string, signal: KIND.signal } as const;

/** The params of `turn/start`, but the input can be a string. */
export type TurnInput = Omit<TurnStartParams, 'input'> & { input: string | UserInput[] };

/**
 * A client of an app-server over two streams. Messages from the server have the types of the
 * protocol's schemas, but are not validated. Every promise settles when the connection ends.
 */
export class Client {
  /** Resolves when the connection has ended, for whatever reason. */
  readonly closed: Promise<void>;
  readonly #transport: ClientTransport;
  readonly #connection: ServerConnection;
  readonly #handlers: ServerRequestHandlers;
  readonly #subscriptions = new Subscriptions();
  #isClosing = false;

  /**
   * `over` resolves when the connection has ended, with the reason for error messages. By default
   * this is the end of the input.
   */
  constructor(
    transport: ClientTransport,
    options: ClientOptions = {},
    over: Promise<string> = endOfStreams(transport),
  ) {
    this.#transport = transport;
    this.#handlers = new ServerRequestHandlers(options.unhandledRequests ?? 'refuse');
    let onClosed = () => {};
    this.closed = new Promise((resolve) => {
      onClosed = resolve;
    });
    this.#connection = new ServerConnection(transport, options, {
      onNotification: (method, params) =>
        this.#notified({ method, params } as unknown as Notification),
      onRequest: (asked) => void this.#handlers.answer(asked, this.#connection),
      onClosed: (error) => {
        this.#handlers.releaseAll();
        this.#subscriptions.finish(this.#isClosing ? null : error);
        onClosed();
      },
    });
    void over.then((reason) => this.#connection.finish(reason));
  }

  /** Performs the handshake: sends `initialize`, then `initialized`. */
  async initialize(
    params: InitializeParams,
    options?: RequestOptions,
  ): Promise<InitializeResponse> {
    const answer = await this.request('initialize', params, options);
    this.notify('initialized');
    return answer;
  }

  /**
   * Resolves with the result. Rejects with a RequestError if the server refuses, and with a
   * ConnectionError if the connection ends.
   */
  request<Method extends RequestMethod>(
    method: Method,
    ...rest: RequestArguments<Method>
  ): Promise<ClientRequests[Method]['result']> {
    const [params = methods[method]?.params === 'none' ? undefined : {}, options] = rest;
    return this.call(method, params, options) as Promise<ClientRequests[Method]['result']>;
  }

  /** The same as `request`, for methods without types. */
  call(method: string, params?: unknown, options?: RequestOptions): Promise<unknown> {
    return this.#connection.request(method, params, options);
  }

  /** Throws a ConnectionError if the connection has ended. */
  notify(method: string, params?: unknown): void {
    this.#connection.send({ method, params });
  }

  /**
   * Calls the listener with the params of each notification of this method. Returns a function that
   * removes the listener.
   */
  on<Method extends NotificationMethod>(
    method: Method,
    listener: (params: ServerNotifications[Method]) => void,
  ): () => void {
    requireNoTypo('on', method, serverNotifications);
    requireFunction('on: the listener', method, listener);
    const take = (notification: Notification) => {
      if (notification.method === method)
        listener(notification.params as ServerNotifications[Method]);
    };
    return this.subscribe({ take, end: () => {} });
  }

  /**
   * Iterates over the params of all notifications of a method from now on. The iterator ends when
   * this client is closed. If the connection ends otherwise, it throws a ConnectionError after the
   * last notification.
   */
  notifications<Method extends NotificationMethod>(
    method: Method,
    options: SubscriptionOptions = {},
  ): AsyncIterableIterator<ServerNotifications[Method]> {
    requireNoTypo('notifications', method, serverNotifications);
    requireOptions<SubscriptionOptions>('notifications', options, SUBSCRIPTION_OPTIONS);
    return this.#subscriptions.iterate(options, (notification) =>
      notification.method === method
        ? (notification.params as ServerNotifications[Method])
        : undefined,
    );
  }

  /** The same as `notifications`, for all methods: iterates over whole notifications. */
  events(options: SubscriptionOptions = {}): AsyncIterableIterator<Notification> {
    requireOptions<SubscriptionOptions>('events', options, SUBSCRIPTION_OPTIONS);
    return this.#subscriptions.iterate(options, (notification) => notification);
  }

  /**
   * Sets the handler for the server's requests of a method. Returns a function that removes it. A
   * method has one handler at most. If the handler throws, the client responds with an error.
   */
  handle<Method extends ServerRequestMethod>(
    method: Method,
    handler: ServerRequestHandler<Method>,
  ): () => void {
    requireNoTypo('handle', method, serverRequests);
    requireFunction('handle: the handler', method, handler);
    return this.#handlers.add(method, handler as Parameters<ServerRequestHandlers['add']>[1]);
  }

  /**
   * Starts a turn. Returns its notifications up to `turn/completed`, and its result. When the
   * signal aborts, the turn is interrupted and ends with that status. The client must follow the
   * thread: it does if it started, resumed or forked it.
   */
  turn({ input, ...settings }: TurnInput, options: { signal?: AbortSignal } = {}): TurnRun {
    requireOptions<{ signal?: AbortSignal }>('turn', options, { signal: KIND.signal });
    const { threadId } = settings;
    const content: UserInput[] =
      typeof input === 'string' ? [{ type: 'text', text: input }] : input;
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

  /** Passes all notifications to the subscriber. Returns a function that ends the subscription. */
  subscribe(subscriber: Subscriber): () => void {
    return this.#subscriptions.add(subscriber);
  }

  /**
   * Closes the connection. The server still responds to earlier requests. Resolves when the
   * connection has ended.
   */
  async close(): Promise<void> {
    this.closeOutput();
    const timer = setTimeout(() => {
      this.#connection.finish(`the server did not end the connection within ${CLOSE_MS_MAX} ms`);
      this.#transport.input.destroy();
    }, CLOSE_MS_MAX);
    await this.closed;
    clearTimeout(timer);
  }

  /** Closes this side of the connection. */
  protected closeOutput(): void {
    this.#isClosing = true;
    this.#connection.closeOutput();
  }

  #notified(notification: Notification): void {
    if (notification.method === 'serverRequest/resolved')
      this.#handlers.release(notification.params.requestId);
    this.#subscriptions.deliver(notification);
  }
}

/** Code without types passes anything. */
function requireFunction(what: string, method: string, value: unknown): void {
  if (typeof value !== 'function') throw new TypeError(`${what} of ${method} must be a function`);
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
