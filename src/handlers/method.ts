import type { ClientRequests, InitializeParams } from '../protocol/generated/types.ts';

/** The connection that a request came from, as handlers see it. */
export interface Caller {
  /** The connection's number. */
  readonly id: number;
  /** The params of `initialize`; null before the handshake. */
  readonly client: InitializeParams | null;
  readonly experimentalApi: boolean;
  /** Returns null while the client keeps up with reading, else a promise that resolves when the request may run. */
  ready(): Promise<void> | null;
  /** Returns null while the client keeps up with reading, else a promise that resolves when it has caught up. */
  drained(): Promise<void> | null;
  /** Completes the handshake. Throws if it is already complete. */
  initialize(params: InitializeParams): void;
}

export interface CallContext {
  caller: Caller;
  /** Registers an effect, which runs after the response is sent and before the next request in the same queue starts. */
  after(effect: () => void): void;
  /**
   * Makes the JSON text of the result in parts, while other work runs: for results that may be large. `sent` is called when the
   * result has been sent, or if there is none.
   */
  answerInParts(sent: () => void): void;
}

/**
 * A row of the method table: the queue in which requests wait, and the handler. A handler returns the result or throws an
 * RpcError; only the dispatcher sends responses.
 */
export interface Method<Name extends keyof ClientRequests> {
  /**
   * The key of the request's queue. Requests with the same key run one after another; if this is null, a request starts at
   * once. A handler with a queue never waits for a model, a tool or a person.
   */
  queue: ((params: ClientRequests[Name]['params']) => string) | null;
  handle(
    params: ClientRequests[Name]['params'],
    context: CallContext,
  ): Promise<ClientRequests[Name]['result']> | ClientRequests[Name]['result'];
}

/** A row whose method is only known at run time. Its params have been validated. */
export interface AnyMethod {
  queue: ((params: never) => string) | null;
  handle(params: never, context: CallContext): unknown;
}

export type MethodTable = { [Name in keyof ClientRequests]: Method<Name> };

/** The queue of the thread that the params name. */
export const perThread = (params: { threadId: string }): string => params.threadId;
