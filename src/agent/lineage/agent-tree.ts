import type { JsonObject } from '../../base/json-value.ts';
import type { UserInput } from '../../protocol/generated/types.ts';
import type { GoalRecord } from '../../store/goal-record.ts';
import type { AuthoredItem } from '../../store/model-items.ts';
import type { ThreadSettings } from '../../store/thread-record.ts';
import type { InterruptCause } from '../../tools/denial.ts';
import type { AgentState } from './agent-state.ts';
import type { AgentsUsage } from './agents-usage.ts';

/** An agent that a thread starts. */
export interface NewAgent {
  /** The names to choose its nickname from; empty: the server's own. */
  nicknames: readonly string[];
  /** The turn that starts it. */
  turnId: string;
  /** The name of its role; null: it has none. */
  role: string | null;
  /** Its settings before its role's configuration: those of the turn that starts it. */
  settings: ThreadSettings;
  model: string;
  /** Null: that of the provider. */
  effort: string | null;
  /** The configuration of its role; null: none. */
  config: JsonObject | null;
  /** Whether it reads the history of the thread that starts it. */
  forksHistory: boolean;
  limits: AgentLimits;
}

/** How many agents a session may have. */
export interface AgentLimits {
  /** How many of them may run at a time. */
  running: number;
  /** How many of them may be open. */
  open: number;
}

/** An agent that was started. */
export interface StartedAgent {
  id: string;
  nickname: string;
  model: string;
  effort: string | null;
}

/** A thread above an agent, loaded or not. */
export interface ThreadAbove {
  goal: GoalRecord | null;
  /** The history as its model reads it. Empty: it is too large. */
  history: readonly AuthoredItem[];
}

/** An agent cannot be started or reached now. The message is for the model. */
export class AgentRefused extends Error {
  override readonly name = 'AgentRefused';
}

/**
 * The agents of all threads. An agent is a thread that an agent of another thread started. A thread
 * has access only to the agents below it: for any other id, `states` says `notFound` and the other
 * methods reject with AgentRefused. `historiesAbove` and `tidy` serve the guardian and the loader.
 * All reject with the store's error.
 */
export interface AgentTree {
  /**
   * Starts an agent with its first turn. If the turn cannot begin, or the signal aborts before it
   * does, there is no agent, and this rejects, for the signal with AgentRefused.
   */
  start(
    parentId: string,
    agent: NewAgent,
    input: UserInput[],
    signal: AbortSignal,
  ): Promise<StartedAgent>;
  /**
   * Begins a turn of an agent, or adds the input to the running one. `interrupt`: the running turn
   * is interrupted first. Returns the turn's id.
   */
  send(
    ownerId: string,
    agentId: string,
    message: { input: UserInput[]; interrupt: boolean; limits: AgentLimits },
  ): Promise<string>;
  /** Opens an agent again that was closed. */
  reopen(ownerId: string, agentId: string, limits: AgentLimits): Promise<void>;
  /** Ends the turns of an agent and of all agents below it, and closes them. */
  close(ownerId: string, agentId: string): Promise<void>;
  /** Interrupts the turns of all agents below a thread. Resolves when they have ended. */
  interruptBelow(ownerId: string, cause: InterruptCause): Promise<void>;
  /** Interrupts the turn of the thread that started an agent. Does not wait for its end. */
  interruptAbove(agentId: string, cause: InterruptCause): void;
  /** The ids of the agents that a thread itself has started and that are open, oldest first. */
  openAgents(ownerId: string): Promise<string[]>;
  /** The states of agents, now, by their ids in this order. */
  states(ownerId: string, agentIds: readonly string[]): Promise<Map<string, AgentState>>;
  /** Resolves when one of the agents has ended a turn or is closed, or when the signal aborts. */
  changed(agentIds: readonly string[], signal: AbortSignal): Promise<void>;
  /**
   * Finishes what a killed server has left of the agents of a thread that has been loaded, and
   * counts their tokens.
   */
  tidy(ownerId: string): Promise<void>;
  /** The threads above an agent, the uppermost first. Each is read when it is asked for. */
  historiesAbove(agentId: string): AsyncIterable<ThreadAbove>;
  /** The tokens that threads and the agents below them have used. */
  readonly usage: Pick<AgentsUsage, 'used' | 'below' | 'forgetUntold'>;
  /** A number that grows whenever an agent that the thread itself started ends a turn. */
  version(ownerId: string): number;
}
