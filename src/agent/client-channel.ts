import type { Answer } from '../protocol/answer.ts';
import type { ServerNotifications, ServerRequests } from '../protocol/generated/types.ts';
import type { ClientRequest } from '../tools/action.ts';

/**
 * The receivers: the followers of a thread; only the one of them that provides the thread's tools,
 * or that has asked for its raw events; one connection by its number; or every connection.
 */
export type Audience =
  | { threadId: string; only?: 'toolProvider' | 'rawEvents' }
  | { connection: number }
  | 'everyone';

/** Sends messages to clients. The agent does not know which clients there are, if any. */
export interface ClientChannel {
  publish<Method extends keyof ServerNotifications>(
    audience: Audience,
    method: Method,
    params: ServerNotifications[Method],
  ): void;
  /**
   * Sends a request to every connection of the audience; the first answer counts. Never rejects.
   */
  ask<Method extends keyof ServerRequests>(
    audience: Audience,
    request: ClientRequest<Method>,
    signal: AbortSignal,
  ): Promise<Answer<ServerRequests[Method]['result']>>;
  /**
   * From now on, the questions of an agent's thread are also asked of the clients that follow a
   * thread above it.
   */
  adopt(threadId: string, above: readonly string[]): void;
  /** The thread of an agent is not loaded any more. */
  disown(threadId: string): void;
  /** Makes the clients that follow one thread followers of another. */
  subscribeFollowers(threadId: string, followed: { of: string }): void;
  /** Removes all followers of a thread. */
  unsubscribeAll(threadId: string): void;
  /** Whether the audience is not empty. */
  isHeard(audience: Audience): boolean;
  /**
   * Returns null if the audience keeps up with its messages, else a promise that resolves when it
   * has caught up.
   */
  drained(audience: Audience): Promise<void> | null;
  /** Writes at once what was sent to these clients. */
  flush(audience: Audience): void;
}
