/** The messages of one client for one thread that have not taken effect. */
interface Lane {
  open: number;
  /** Resolves when all of them are done. */
  done: Promise<unknown>;
  /** Resolves when all of them that change something have taken effect. */
  effective: Promise<unknown>;
}

/**
 * Lets the messages of each client for each thread take effect in the order of their lines. A
 * message is `urgent` if it must not wait longer than that: it starts as soon as the messages
 * before it have taken effect, even if they are not done, and waits for no reads.
 */
export class MessageOrder {
  readonly #lanes = new Map<string, Lane>();

  /**
   * Runs a message. `key` names its client and its thread. `run` must not reject; it may call
   * `effective` before it is done. A message that only `reads` is done before later ones of its
   * kind start, but urgent ones do not wait for it.
   */
  run(
    key: string,
    { urgent = false, reads = false }: { urgent?: boolean; reads?: boolean },
    run: MessageRun,
  ): void {
    const lane = this.#lanes.get(key);
    const next = lane ?? { open: 0, done: Promise.resolve(), effective: Promise.resolve() };
    if (lane === undefined) this.#lanes.set(key, next);
    next.open++;
    const end = () => {
      if (--next.open === 0) this.#lanes.delete(key);
    };
    if (reads && !urgent) {
      next.done = (lane === undefined ? run(nothing) : lane.done.then(() => run(nothing))).then(
        end,
      );
      return;
    }
    let takeEffect = nothing;
    const effective = new Promise<void>((resolve) => {
      takeEffect = resolve;
    });
    const before = urgent ? lane?.effective : lane?.done;
    const done = (before === undefined ? run(takeEffect) : before.then(() => run(takeEffect)))
      .then(takeEffect)
      .then(end);
    // The messages behind an urgent one wait for its effect only: what it began may take long.
    next.done = urgent ? Promise.all([next.done, effective]) : done;
    next.effective = Promise.all([next.effective, effective]);
  }
}

const nothing = () => {};

type MessageRun = (effective: () => void) => Promise<void>;
