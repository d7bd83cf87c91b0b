import type { Answer } from '../protocol/answer.ts';
import type { ServerNotifications, ServerRequests } from '../protocol/generated/types.ts';

/** Who is told: those who follow a thread, one connection by its number, or everyone. */
export type Audience = { threadId: string } | { connection: number } | 'everyone';

/** The agent's way to its clients. It does not know which there are, or whether there is one. */
export interface Publisher {
  publish<Method extends keyof ServerNotifications>(audience: Audience, method: Method, params: ServerNotifications[Method]): void;
  /** Asks every connection of the audience; the first answer counts. Never rejects. */
  ask<Method extends keyof ServerRequests>(
    audience: Audience,
    request: { method: Method; params: ServerRequests[Method]['params'] },
    signal: AbortSignal,
  ): Promise<Answer<ServerRequests[Method]['result']>>;
  /** Null while the audience reads what it is told; else resolves when it has caught up. */
  drained(audience: Audience): Promise<void> | null;
}
