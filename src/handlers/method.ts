import type { ClientRequests, InitializeParams } from '../protocol/generated/types.ts';

/** Who asks, as far as a handler needs to know. */
export interface Caller {
  /** The connection's number. */
  readonly id: number;
  /** What the client said of itself; null before the handshake. */
  readonly client: InitializeParams | null;
  readonly experimentalApi: boolean;
  /** Null while the client reads what it is sent; else resolves when it may be answered again. */
  ready(): Promise<void> | null;
  /** Completes the handshake; throws when that has happened. */
  initialize(params: InitializeParams): void;
}

export interface CallContext {
  caller: Caller;
  /** Registers what is to happen after the answer has left and before the next request of the same queue is taken up. */
  after(effect: () => void): void;
}

/**
 * A method is a row: which requests it waits for, and what it does. A handler returns the answer or throws an RpcError;
 * only the dispatcher answers.
 */
export interface Method<Name extends keyof ClientRequests> {
  /**
   * Requests with the same key are decided one after another; null: at once. A slot orders decisions: it never spans
   * a wait for a model, a tool or a person.
   */
  queue: ((params: ClientRequests[Name]['params']) => string) | null;
  handle(
    params: ClientRequests[Name]['params'],
    context: CallContext,
  ): Promise<ClientRequests[Name]['result']> | ClientRequests[Name]['result'];
}

/** A row whose method is not known before a request names it. Its params have been validated by then. */
export interface AnyMethod {
  queue: ((params: never) => string) | null;
  handle(params: never, context: CallContext): unknown;
}

export type MethodTable = { [Name in keyof ClientRequests]: Method<Name> };

/** The queue of the thread that the params name. */
export const perThread = (params: { threadId: string }): string => params.threadId;
