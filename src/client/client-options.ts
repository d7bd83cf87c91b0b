import type { Readable, Writable } from 'node:stream';
import type { ClientRequests, ServerNotifications, ServerRequests } from '../protocol/generated/types.ts';
import type { ConnectionError } from './request-error.ts';

export type RequestMethod = keyof ClientRequests;
export type NotificationMethod = keyof ServerNotifications;
export type ServerRequestMethod = keyof ServerRequests;

/** What the server tells without being asked; `method` says what `params` is. */
export type Notification = {
  [Method in NotificationMethod]: { method: Method; params: ServerNotifications[Method] };
}[NotificationMethod];

/** After the method: the params, which may be left out where none of their fields must be there, and options. */
export type RequestArguments<Method extends RequestMethod> =
  Partial<ClientRequests[Method]['params']> extends ClientRequests[Method]['params']
    ? [params?: ClientRequests[Method]['params'], options?: RequestOptions]
    : [params: ClientRequests[Method]['params'], options?: RequestOptions];

export interface RequestOptions {
  /** Aborted: the request rejects with the signal's reason, and the answer is dropped. The server is not told. */
  signal?: AbortSignal;
  /** After so many milliseconds without an answer the request rejects with a RequestTimeoutError. */
  timeoutMs?: number;
}

/** Answers a request of the server. What it throws is sent as an error. */
export type ServerRequestHandler<Method extends ServerRequestMethod> = (
  params: ServerRequests[Method]['params'],
  context: ServerRequestContext,
) => ServerRequests[Method]['result'] | Promise<ServerRequests[Method]['result']>;

export interface ServerRequestContext {
  /** Aborted when no answer is awaited any more: somebody else answered, the turn ended, or the connection did. */
  signal: AbortSignal;
}

export interface SubscriptionOptions {
  /** Only what is about this thread. */
  threadId?: string;
  /** Aborted: the iterator ends. */
  signal?: AbortSignal;
}

/** Who hears notifications, as they come. */
export interface Subscriber {
  take(notification: Notification): void;
  /** Nothing more comes: null when this client was closed, else what happened. */
  end(error: ConnectionError | null): void;
}

/** The two directions of a connection, as the client sees them. */
export interface ClientTransport {
  /** What the server writes. */
  input: Readable;
  /** What the server reads. */
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
   * What happens to requests of the server that have no handler: they are refused with an error, so that no turn waits in
   * vain; or left open, where another client of the same threads answers them.
   */
  unhandledRequests?: 'refuse' | 'leave';
  /** Told of every message, before anything is made of it. */
  onMessage?: (message: WireMessage) => void;
  /** Told of every line that is no message and was passed over; the text says why. */
  onSkipped?: (reason: string) => void;
}
