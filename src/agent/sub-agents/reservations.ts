import { AgentRefused } from '../lineage/agent-tree.ts';

/** An agent that is about to run or to be opened, until it is released. */
export interface Reservation {
  /** Null: its thread does not exist yet. */
  agentId: string | null;
  /** Null: not chosen yet, or that of an agent that is stored. */
  nickname: string | null;
  /** Whether it counts as running. */
  runs: boolean;
}

interface Running {
  limit: number;
  /** The ids of the session's agents that run now. */
  running: readonly string[];
}

/**
 * The agents of all sessions that are about to run, so that calls that run side by side cannot pass
 * a limit together.
 */
export class Reservations {
  readonly #bySession = new Map<string, Set<Reservation>>();

  /**
   * Reserves a place at once. Throws AgentRefused if the session has none. Release it once the
   * agent runs, or cannot.
   */
  take(sessionId: string, agentId: string | null, { limit, running }: Running): Reservation {
    const reserved = this.of(sessionId).filter(({ runs }) => runs);
    const ids = new Set([...running, ...reserved.flatMap((each) => each.agentId ?? [])]);
    // An agent that runs already takes no other place.
    if (agentId !== null) ids.delete(agentId);
    const count = ids.size + reserved.filter((each) => each.agentId === null).length;
    if (count >= limit)
      throw new AgentRefused(
        `The limit of ${limit} agents that work at a time is reached (max_threads or max_concurrent_threads_per_session of [agents]). Wait for one with wait_agent, or close one with close_agent.${named([...ids])}`,
      );
    return this.#add(sessionId, { agentId, nickname: null, runs: true });
  }

  /** Notes an agent that is being opened. */
  hold(sessionId: string, opened: { agentId: string; nickname: string }): Reservation {
    return this.#add(sessionId, { ...opened, runs: false });
  }

  release(sessionId: string, reservation: Reservation): void {
    const reserved = this.#bySession.get(sessionId);
    reserved?.delete(reservation);
    if (reserved?.size === 0) this.#bySession.delete(sessionId);
  }

  #add(sessionId: string, reservation: Reservation): Reservation {
    this.#bySession.set(sessionId, new Set([...this.of(sessionId), reservation]));
    return reservation;
  }

  of(sessionId: string): Reservation[] {
    return [...(this.#bySession.get(sessionId) ?? [])];
  }
}

/** Those that are being started have no id yet. */
function named(ids: readonly string[]): string {
  return ids.length === 0 ? '' : ` These work: ${ids.join(', ')}.`;
}
