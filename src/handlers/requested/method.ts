import type { ClientRequests, InitializeParams } from '../../protocol/generated/types.ts';

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
  /**
   * From now on, notifications and requests to the client wait, but no responses. Returns the
   * function that sends them.
   */
  hold(): () => void;
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
 * In which order a request runs with others: a value of this file. `queue`: the key of its queue.
 * Requests with the same key run one after another. Null: it starts at once, or if it names a
 * thread, as soon as its client's earlier messages about that thread have taken effect. A handler
 * with a queue never waits for a model, a tool or a person.
 */
export interface Order<Params> {
  readonly queue: ((params: Params) => string) | null;
  /**
   * `changes`: its client's interrupts and answers wait until it has taken effect. `reads`: it
   * changes nothing, so they do not wait for it. `setsUp`: it changes what others depend on, such
   * as the configuration, so all later requests of its client wait until it is done. Without a
   * queue, only the last one matters.
   */
  readonly kind: 'changes' | 'reads' | 'setsUp';
}

/** Has no queue: it starts as `queue` says. */
export const unqueued: Order<unknown> = { queue: null, kind: 'changes' };
/** After earlier requests for the thread that the params name. */
export const perThread: Order<{ threadId: string }> = inQueue(({ threadId }) => threadId);
/** As `perThread`, for requests that change nothing. */
export const readsThread: Order<{ threadId: string }> = { ...perThread, kind: 'reads' };
/** Before the later requests of its client. */
export const beforeOthers: Order<unknown> = { queue: null, kind: 'setsUp' };

/** After earlier requests with the same key. */
export function inQueue<Params>(queue: (params: Params) => string): Order<Params> {
  return { queue, kind: 'changes' };
}

/** As `inQueue`, and before the later requests of its client. */
export function beforeOthersIn<Params>(queue: (params: Params) => string): Order<Params> {
  return { queue, kind: 'setsUp' };
}

/**
 * A row of the method table: its order, and the handler. A handler returns the result or throws an
 * RpcError; only the dispatcher sends responses.
 */
export interface Method<Name extends keyof ClientRequests> {
  order: Order<ClientRequests[Name]['params']>;
  /** It begins a turn, so a server that ends refuses it. */
  beginsTurn?: true;
  handle(
    params: ClientRequests[Name]['params'],
    context: RequestContext,
  ): Promise<ClientRequests[Name]['result']> | ClientRequests[Name]['result'];
}

/** A row whose method is only known at run time. Its params have been validated. */
export interface AnyMethod {
  order: Order<never>;
  beginsTurn?: true;
  handle(params: never, context: RequestContext): unknown;
}

export type MethodTable = { [Name in keyof ClientRequests]: Method<Name> };

/** The row that a connection begins with. */
export type HandshakeMethods = Pick<MethodTable, 'initialize'>;

/** The rows of all other methods. */
export type RequestMethods = Omit<MethodTable, keyof HandshakeMethods>;
