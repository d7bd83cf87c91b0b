import type { CollabAgentState } from '../../protocol/generated/types.ts';
import type { AgentRecord } from '../../store/thread-record.ts';
import type { StoredTurn, ThreadStore } from '../../store/thread-store.ts';

/** The state of an agent, with its whole message. */
export interface AgentState extends CollabAgentState {
  /** The id of the agent's last turn; null: it has none. */
  turnId: string | null;
  /** Whether another process runs the agent. */
  isElsewhere: boolean;
}

/** The facts that the state of an agent follows from. */
export interface AgentFacts {
  closedAtMs: number | null;
  /** Whether a turn of the agent runs or is being begun in this process. */
  isRunning: boolean;
  /** With its last message, if it has one. Null: the agent has no turn yet. */
  lastTurn: Pick<StoredTurn, 'id' | 'status' | 'error' | 'items'> | null;
}

/** The state of an agent. Null facts: there is no such agent. */
export function agentState(facts: AgentFacts | null): AgentState {
  const isElsewhere =
    facts?.closedAtMs === null && !facts.isRunning && facts.lastTurn?.status === 'inProgress';
  return { ...stateOf(facts), turnId: facts?.lastTurn?.id ?? null, isElsewhere };
}

/**
 * The state of an agent with its last turn in the store. `isRunning`: whether a turn of it runs or
 * is being begun in this process. Rejects with the store's error.
 */
export async function readAgentState(
  { id, agentClosedAtMs: closedAtMs }: AgentRecord,
  isRunning: boolean,
  store: Pick<ThreadStore, 'listTurns'>,
): Promise<AgentState> {
  const { data } = await store.listTurns(id, { direction: 'desc', limit: 1, view: 'summary' });
  return agentState({ closedAtMs, isRunning, lastTurn: data[0] ?? null });
}

function stateOf(facts: AgentFacts | null): CollabAgentState {
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

function lastMessage({ items }: Pick<StoredTurn, 'items'>): string | null {
  const message = items.findLast((item) => item.type === 'agentMessage');
  return message?.type === 'agentMessage' ? message.text : null;
}
