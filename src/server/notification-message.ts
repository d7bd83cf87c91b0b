import type { ServerNotifications } from '../protocol/generated/types.ts';
import { type OutgoingMessage, outgoing } from '../transport/outgoing-message.ts';

/** A notification to clients. Its text is made once for all of them. */
export function notificationMessage<Method extends keyof ServerNotifications>(
  method: Method,
  params: ServerNotifications[Method],
  emittedAtMs: number,
): OutgoingMessage {
  return outgoing({
    head: `{"method":"${method}","params":`,
    value: params,
    tail: `,"emittedAtMs":${emittedAtMs}`,
    instead: () => tooLarge(method, emittedAtMs),
  });
}

/** Takes the place of a notification that no client could read. */
function tooLarge(method: string, emittedAtMs: number): string {
  const message = `A notification ${method} was left out: it is too large for one message.`;
  return JSON.stringify({ method: 'warning', params: { message, threadId: null }, emittedAtMs });
}
