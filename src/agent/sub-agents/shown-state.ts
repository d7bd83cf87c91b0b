import type { JsonValue } from '../../base/json-value.ts';
import { withoutMiddle } from '../../base/text/without-middle.ts';
import type { CollabAgentState } from '../../protocol/generated/types.ts';
import type { AgentState } from '../lineage/agent-state.ts';

/** The most characters of an agent's message that items show, and that its parent's model reads. */
const SHOWN_CHARS_MAX = 1_000;
const READ_CHARS_MAX = 10_000;
/** Less of a message is not worth reading. */
const READ_CHARS_MIN = 200;

/** The state as clients see it in items. */
export function shownState({ status, message = null }: AgentState): CollabAgentState {
  return { status, message: message === null ? null : shortened(message, SHOWN_CHARS_MAX) };
}

/** Whether the agent does nothing more by itself. */
export function isAtRest({ status }: CollabAgentState): boolean {
  return status !== 'running';
}

/**
 * The state in the form that models know. `charsMax`: for the message; if that is too little for
 * one, there is only the status.
 */
export function stateForModel(
  { status, message = null }: AgentState,
  charsMax = READ_CHARS_MAX,
): JsonValue {
  const text =
    message === null || charsMax < READ_CHARS_MIN
      ? null
      : shortened(message, Math.min(charsMax, READ_CHARS_MAX));
  if (message !== null && text === null) return statusForModel(status);
  if (status === 'completed') return { completed: text };
  return status === 'errored'
    ? { errored: text ?? 'The agent failed without a message.' }
    : statusForModel(status);
}

/** The status in the form that models know. */
export function statusForModel(status: AgentState['status']): string {
  switch (status) {
    case 'pendingInit':
      return 'pending_init';
    case 'notFound':
      return 'not_found';
    case 'completed':
    case 'errored':
    case 'running':
    case 'interrupted':
    case 'shutdown':
      return status;
    default:
      return status satisfies never;
  }
}

function shortened(text: string, charsMax: number): string {
  return text.length <= charsMax
    ? text
    : withoutMiddle(text, text, { charsMax, length: text.length });
}
