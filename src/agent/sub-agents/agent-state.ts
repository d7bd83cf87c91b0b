import type { JsonValue } from '../../base/json-value.ts';
import type { CollabAgentState } from '../../protocol/generated/types.ts';
import type { StoredTurn } from '../../store/thread-store.ts';

/** The facts that the state of an agent follows from. */
export interface AgentFacts {
  closedAtMs: number | null;
  /** Whether a turn of the agent runs or is being begun in this process. */
  isRunning: boolean;
  /** With its last message, if it has one. Null: the agent has no turn yet. */
  lastTurn: Pick<StoredTurn, 'status' | 'error' | 'items'> | null;
}

/** The state of an agent as clients see it. Null facts: there is no such agent. */
export function agentState(facts: AgentFacts | null): CollabAgentState {
  if (facts === null) return { status: 'notFound', message: null };
  const { closedAtMs, isRunning, lastTurn } = facts;
  if (closedAtMs !== null) return { status: 'shutdown', message: null };
  if (isRunning) return { status: 'running', message: null };
  if (lastTurn === null) return { status: 'pendingInit', message: null };
  switch (lastTurn.status) {
    case 'completed':
      return { status: 'completed', message: lastMessage(lastTurn) };
    case 'failed':
      return { status: 'errored', message: lastTurn.error?.message ?? null };
    case 'interrupted':
      return { status: 'interrupted', message: null };
    case 'inProgress':
      return { status: 'running', message: null };
    default:
      return lastTurn.status satisfies never;
  }
}

/** Whether the agent does nothing more by itself. */
export function isAtRest({ status }: CollabAgentState): boolean {
  return status !== 'running';
}

/** The state in the form that models know. */
export function stateForModel({ status, message = null }: CollabAgentState): JsonValue {
  switch (status) {
    case 'completed':
      return { completed: message };
    case 'errored':
      return { errored: message ?? 'The agent failed without a message.' };
    case 'pendingInit':
      return 'pending_init';
    case 'notFound':
      return 'not_found';
    case 'running':
    case 'interrupted':
    case 'shutdown':
      return status;
    default:
      return status satisfies never;
  }
}

function lastMessage({ items }: Pick<StoredTurn, 'items'>): string | null {
  const message = items.findLast((item) => item.type === 'agentMessage');
  return message?.type === 'agentMessage' ? message.text : null;
}
