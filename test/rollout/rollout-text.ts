import { asked, said } from '../support/test-model.ts';

/** The time at which the rollouts of these tests begin, in Unix milliseconds. */
export const BEGAN_MS = Date.UTC(2026, 0, 1, 10);

/** Unix milliseconds of a second of a rollout. */
export function at(second: number): number {
  return BEGAN_MS + second * 1000;
}

/** The nth id that a server would make when the rollouts begin: a UUIDv7. */
export function rolloutId(n: number, ms = BEGAN_MS): string {
  const time = ms.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${String(n).padStart(12, '0')}`;
}

/** One line, without a line end. */
export function line(second: number, type: string, payload: object): string {
  return JSON.stringify({ timestamp: new Date(at(second)).toISOString(), type, payload });
}

export function event(second: number, type: string, fields: object = {}): string {
  return line(second, 'event_msg', { type, ...fields });
}

/** An item as newer rollouts record it. */
export function completed(second: number, turnId: string, item: object): string {
  return event(second, 'item_completed', {
    turn_id: turnId,
    item,
    started_at_ms: at(second),
    completed_at_ms: at(second),
  });
}

export function response(second: number, item: object): string {
  return line(second, 'response_item', item);
}

/** The first line. */
export function sessionMeta(id: string, more: object = {}): string {
  return line(0, 'session_meta', {
    id,
    timestamp: new Date(BEGAN_MS).toISOString(),
    cwd: '/srv/place',
    cli_version: '0.169.0',
    ...more,
  });
}

/**
 * A whole turn of a newer rollout: the user's message and the agent's answer, within two seconds.
 */
export function turn(
  second: number,
  turnId: string,
  [question, answer]: [question: string, answer: string],
): string[] {
  return [
    event(second, 'task_started', { turn_id: turnId, started_at: Math.floor(at(second) / 1000) }),
    response(second, asked(question)),
    completed(second, turnId, {
      type: 'UserMessage',
      id: `${turnId}-user`,
      content: [{ type: 'text', text: question, text_elements: [] }],
    }),
    completed(second + 1, turnId, {
      type: 'AgentMessage',
      id: `${turnId}-agent`,
      content: [{ type: 'Text', text: answer }],
    }),
    response(second + 1, said(answer)),
    event(second + 1, 'task_complete', {
      turn_id: turnId,
      completed_at: Math.floor(at(second + 1) / 1000),
      duration_ms: 1000,
    }),
  ];
}

export function text(lines: readonly string[]): string {
  return lines.map((one) => `${one}\n`).join('');
}
