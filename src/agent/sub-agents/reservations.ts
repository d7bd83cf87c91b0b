import { AgentRefused } from './agent-tree.ts';

/** An agent that is about to run. It counts as running until it is released. */
export interface Reservation {
  /** Null: its thread does not exist yet. */
  agentId: string | null;
  /** Null: not chosen yet, or that of an agent that is stored. */
  nickname: string | null;
}

interface Running {
  limit: number;
  /** The ids of the session's agents that run now. */
  running: readonly string[];
}

/** The agents of all sessions that are about to run, so that calls that run side by side cannot pass a limit together. */
export class Reservations {
  readonly #bySession = new Map<string, Set<Reservation>>();

  /** Reserves a place at once. Throws AgentRefused if the session has none. Release it once the agent runs, or cannot. */
  take(sessionId: string, agentId: string | null, { limit, running }: Running): Reservation {
    const reserved = this.of(sessionId);
    const ids = new Set([...running, ...reserved.flatMap((each) => each.agentId ?? [])]);
    const count = ids.size + reserved.filter((each) => each.agentId === null).length;
    if (count >= limit)
      throw new AgentRefused(
        `The limit of ${limit} running agents is reached (agents.max_threads). Wait for one with wait_agent, or close one with close_agent. These run: ${[...ids].join(', ')}.`,
      );
    const reservation: Reservation = { agentId, nickname: null };
    this.#bySession.set(sessionId, new Set([...reserved, reservation]));
    return reservation;
  }

  release(sessionId: string, reservation: Reservation): void {
    const reserved = this.#bySession.get(sessionId);
    reserved?.delete(reservation);
    if (reserved?.size === 0) this.#bySession.delete(sessionId);
  }

  of(sessionId: string): Reservation[] {
    return [...(this.#bySession.get(sessionId) ?? [])];
  }
}
