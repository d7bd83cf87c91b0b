/** The loaded agents of all sessions that no turn runs in, and that no client has opened itself. */
export class IdleAgents {
  readonly #max: number;
  /** By session: the ids, in the order in which the agents became idle. */
  readonly #bySession = new Map<string, Set<string>>();

  /** `max`: how many agents of a session may be idle. */
  constructor(max: number) {
    this.#max = max;
  }

  /**
   * Notes that an agent has become idle. Returns those of the session that are too many, which are
   * no longer noted.
   */
  add(sessionId: string, agentId: string): string[] {
    const idle = this.#bySession.get(sessionId) ?? new Set();
    idle.delete(agentId);
    idle.add(agentId);
    this.#bySession.set(sessionId, idle);
    const surplus = [...idle].slice(0, Math.max(0, idle.size - this.#max));
    for (const id of surplus) idle.delete(id);
    return surplus;
  }

  /** The agent runs, is opened by a client or is not loaded any more. */
  remove(sessionId: string, agentId: string): void {
    const idle = this.#bySession.get(sessionId);
    idle?.delete(agentId);
    if (idle?.size === 0) this.#bySession.delete(sessionId);
  }
}
