import type { InterruptCause } from '../../tools/denial.ts';
import type { ActiveTurn } from '../turn/active-turn.ts';

/** The loaded threads. */
interface InterruptedThreads {
  /** A loaded thread; null if it is not loaded. */
  find(threadId: string): {
    readonly turn: ActiveTurn | null;
    interruptAndWait(cause: InterruptCause): Promise<void>;
  } | null;
  /** The ids of the loaded agents below a thread. */
  below(threadId: string): string[];
  /** The thread that has started an agent, if it is loaded. */
  ownerOf(agentId: string): string | null;
}

/** Interrupts the turns of threads and of the agents below them. */
export class TreeInterrupts {
  readonly #threads: InterruptedThreads;
  /**
   * By each turn that the user has interrupted together with others: the turns of the agents then;
   * null: an agent had none.
   */
  readonly #interrupted = new WeakMap<ActiveTurn, ReadonlyMap<string, ActiveTurn | null>>();

  constructor(threads: InterruptedThreads) {
    this.#threads = threads;
  }

  /** Interrupts the turns of all agents below a thread. Resolves when they have ended. */
  async below(ownerId: string, cause: InterruptCause): Promise<void> {
    const ownerTurn = this.#threads.find(ownerId)?.turn ?? null;
    await Promise.all(this.#threads.below(ownerId).map((id) => this.#agent(id, ownerTurn, cause)));
  }

  /** Interrupts the turn of the thread that started an agent. Does not wait for its end. */
  above(agentId: string, cause: InterruptCause): void {
    const ownerId = this.#threads.ownerOf(agentId);
    const turn = ownerId === null ? null : (this.#threads.find(ownerId)?.turn ?? null);
    turn?.refuseInput();
    turn?.interrupt(cause);
  }

  /**
   * For the user: closes the turns of all agents below a thread to input, and returns the function
   * that interrupts them. Input that a client sends to an agent after that begins a turn that goes
   * on. `ownerTurn`: the turn of the thread, which is interrupted with them; null: none runs.
   */
  withTurn(ownerId: string, ownerTurn: ActiveTurn | null): () => void {
    const threads = this.#threads;
    const turns = new Map(threads.below(ownerId).map((id) => [id, threads.find(id)?.turn ?? null]));
    for (const turn of turns.values()) turn?.refuseInput();
    for (const turn of [ownerTurn, ...turns.values()])
      if (turn !== null) this.#interrupted.set(turn, turns);
    return () => {
      for (const turn of turns.values()) turn?.interrupt('parent');
    };
  }

  async #agent(id: string, ownerTurn: ActiveTurn | null, cause: InterruptCause): Promise<void> {
    const interrupted = ownerTurn === null ? undefined : this.#interrupted.get(ownerTurn)?.get(id);
    if (interrupted === undefined) return this.#threads.find(id)?.interruptAndWait(cause);
    await interrupted?.finished;
    // A client's input may have begun a turn since, which goes on. One that a call of an
    // interrupted turn has begun ends.
    const next = this.#threads.find(id)?.turn ?? null;
    if (next === null || next.rootTurnId !== ownerTurn?.rootTurnId) return;
    next.refuseInput();
    next.interrupt(cause);
    await next.finished;
  }
}
