import type { Readable, Writable } from 'node:stream';
import type {
  ClientRequests,
  ServerNotifications,
  ServerRequests,
} from '../protocol/generated/types.ts';
import type { ConnectionError } from './request-error.ts';

export type RequestMethod = keyof ClientRequests;
export type NotificationMethod = keyof ServerNotifications;
export type ServerRequestMethod = keyof ServerRequests;

/** A notification from the server; `method` determines the type of `params`. */
export type Notification = {
  [Method in NotificationMethod]: { method: Method; params: ServerNotifications[Method] };
}[NotificationMethod];

/**
 * The arguments after the method: the params, optional if none of their fields is required, and
 * options.
 */
export type RequestArguments<Method extends RequestMethod> =
  Partial<ClientRequests[Method]['params']> extends ClientRequests[Method]['params']
    ? [params?: ClientRequests[Method]['params'], options?: RequestOptions]
    : [params: ClientRequests[Method]['params'], options?: RequestOptions];

export interface RequestOptions {
  /**
   * When it aborts, the request rejects with its reason, and a later response is ignored. The
   * client does not tell the server.
   */
  signal?: AbortSignal;
  /**
   * After this many milliseconds without a response, the request rejects with a
   * RequestTimeoutError.
   */
  timeoutMs?: number;
}

/**
 * Returns the result for a request of the server. If it throws, the client responds with an error.
 */
export type ServerRequestHandler<Method extends ServerRequestMethod> = (
  params: ServerRequests[Method]['params'],
  context: ServerRequestContext,
) => ServerRequests[Method]['result'] | Promise<ServerRequests[Method]['result']>;

export interface ServerRequestContext {
  /** The request's id. */
  id: string | number;
  /**
   * Aborts when the server no longer waits for a response: another client responded, or the turn or
   * the connection ended.
   */
  signal: AbortSignal;
}

export interface SubscriptionOptions {
  /** Only notifications about this thread. */
  threadId?: string;
  /** When it aborts, the iterator ends. */
  signal?: AbortSignal;
}

/** Receives notifications as they come. */
export interface Subscriber {
  take(notification: Notification): void;
  /** Called after the last notification. The error is null if this client was closed. */
  end(error: ConnectionError | null): void;
}

/** The two directions of a connection, as the client sees them. */
export interface ClientTransport {
  /** The stream that the server writes to. */
  input: Readable;
  /** The stream that the server reads from. */
  output: Writable;
}

/** One message on the wire. */
export interface WireMessage {
  direction: 'sent' | 'received';
  /** Without its line end. */
  line: string;
  message: Readonly<Record<string, unknown>>;
}

export interface ClientOptions {
  /**
   * How to treat requests of the server that have no handler. `refuse`, the default, responds with
   * an error, so that no turn waits in vain. `leave` does not respond: another client of the same
   * threads does.
   */
  unhandledRequests?: 'refuse' | 'leave';
  /** Called with every message before it is processed. */
  onMessage?: (message: WireMessage) => void;
  /** Called for every line that was skipped because it is not a message, with the reason. */
  onSkipped?: (reason: string) => void;
}
