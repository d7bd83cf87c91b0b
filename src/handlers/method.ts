import type { ClientRequests, InitializeParams } from '../protocol/generated/types.ts';

/** The connection that a request came from, as handlers see it. */
export interface Caller {
  /** The connection's number. */
  readonly id: number;
  /** The params of `initialize`; null before the handshake. */
  readonly client: InitializeParams | null;
  readonly experimentalApi: boolean;
  /**
   * Returns null while the client keeps up with reading, else a promise that resolves when the
   * request may run.
   */
  ready(): Promise<void> | null;
  /**
   * Returns null while the client keeps up with reading, else a promise that resolves when it has
   * caught up.
   */
  drained(): Promise<void> | null;
  /** Writes the messages that were sent to the client so far. */
  flush(): void;
  /** The params of the caller's open requests with this id. */
  openParams(requestId: string | number): readonly object[];
  /** Aborts when the client can send nothing more, or does not wait for responses any more. */
  readonly gone: AbortSignal;
  /** Completes the handshake. Throws if it is already complete. */
  initialize(params: InitializeParams): void;
}

export interface RequestContext {
  caller: Caller;
  /**
   * Registers an effect, which runs after the response is sent and ends before the next request in
   * the same queue starts.
   */
  after(effect: () => void | Promise<void>): void;
  /**
   * Makes the JSON text of the result in parts, while other work runs: for results that may be
   * large. `sent` is called when the result has been sent, or if there is none.
   */
  answerInParts(sent: () => void): void;
  /**
   * Says that the request has taken effect in memory, though the handler still stores it. An
   * interrupt and answers of the same client wait no longer for it. Without this call, they wait
   * until the handler is done and its effects have run.
   */
  effective(): void;
}

/**
 * A row of the method table: the queue in which requests wait, and the handler. A handler returns
 * the result or throws an RpcError; only the dispatcher sends responses.
 */
export interface Method<Name extends keyof ClientRequests> {
  /**
   * The key of the request's queue. Requests with the same key run one after another; if this is
   * null, a request starts at once, or if it names a thread, as soon as its client's earlier
   * messages about that thread have taken effect. A handler with a queue never waits for a model, a
   * tool or a person.
   */
  queue: ((params: ClientRequests[Name]['params']) => string) | null;
  /** True: the request changes nothing, so interrupts and answers do not wait for it. */
  reads?: true;
  /**
   * True: the request changes what others depend on, such as the configuration. Its client's later
   * requests wait until it is done.
   */
  first?: true;
  handle(
    params: ClientRequests[Name]['params'],
    context: RequestContext,
  ): Promise<ClientRequests[Name]['result']> | ClientRequests[Name]['result'];
}

/** A row whose method is only known at run time. Its params have been validated. */
export interface AnyMethod {
  queue: ((params: never) => string) | null;
  reads?: true;
  first?: true;
  handle(params: never, context: RequestContext): unknown;
}

export type MethodTable = { [Name in keyof ClientRequests]: Method<Name> };

/** The row that a connection begins with. */
export type HandshakeMethods = Pick<MethodTable, 'initialize'>;

/** The rows of all other methods. */
export type RequestMethods = Omit<MethodTable, keyof HandshakeMethods>;

/** The queue of the thread that the params name. */
export const perThread = (params: { threadId: string }): string => params.threadId;
