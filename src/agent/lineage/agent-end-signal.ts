interface Waiter {
  agentIds: ReadonlySet<string>;
  wake(): void;
}

/** Tells those who wait, and threads whose agents they are, that agents have ended a turn. */
export class AgentEndSignal {
  /** By the thread that has started the agents: how many times one of them has ended a turn. */
  readonly #versions = new Map<string, number>();
  readonly #waiters = new Set<Waiter>();

  /** Resolves when one of the agents has ended a turn or is closed, or when the signal aborts. */
  next(agentIds: readonly string[], signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const waiter: Waiter = {
        agentIds: new Set(agentIds),
        wake: () => {
          this.#waiters.delete(waiter);
          signal.removeEventListener('abort', waiter.wake);
          resolve();
        },
      };
      this.#waiters.add(waiter);
      signal.addEventListener('abort', waiter.wake);
    });
  }

  /** A number that grows whenever an agent of the thread has ended a turn. */
  version(ownerId: string): number {
    return this.#versions.get(ownerId) ?? 0;
  }

  /** `ownerId`: the thread that has started the agent; null if it is not loaded. */
  ended(agentId: string, ownerId: string | null): void {
    if (ownerId !== null) this.#versions.set(ownerId, this.version(ownerId) + 1);
    for (const waiter of [...this.#waiters]) if (waiter.agentIds.has(agentId)) waiter.wake();
  }

  /** The thread that starts agents is not loaded any more. */
  forget(ownerId: string): void {
    this.#versions.delete(ownerId);
  }
}
