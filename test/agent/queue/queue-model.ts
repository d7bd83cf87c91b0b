/** An entry of the queue: its number in the order of the additions, and what it says. */
interface Entry {
  key: string;
  words: string;
}

/** How a request is refused. */
type Code = 'submission_not_found' | 'invalid_params' | 'thread_not_found' | 'turn_active';

/**
 * What the queue of a thread must be after each operation. Every method returns the code of the
 * error that the request must have; null: it must succeed.
 */
export class QueueModel {
  waiting: Entry[] = [];
  /** The turns of the thread, as `turnsOf` shows them. The last one may run. */
  readonly turns: { words: string; status: string }[] = [];
  isLoaded = true;
  #isHeld = false;
  readonly #begun = new Set<string>();

  get heldBecause(): string | null {
    if (this.#isHeld) return 'turnInterrupted';
    return this.isLoaded ? null : 'threadNotLoaded';
  }

  get isRunning(): boolean {
    return this.turns.at(-1)?.status === 'inProgress';
  }

  add(key: string, words: string): null {
    const isKnown = this.#begun.has(key) || this.waiting.some((entry) => entry.key === key);
    if (!isKnown) this.waiting.push({ key, words });
    this.#goOn();
    return null;
  }

  update(key: string, words: string): Code | null {
    const entry = this.waiting.find((each) => each.key === key);
    if (entry === undefined) return 'submission_not_found';
    entry.words = words;
    return null;
  }

  reorder(keys: readonly string[]): Code | null {
    const order = keys.flatMap((key) => this.waiting.find((entry) => entry.key === key) ?? []);
    if (keys.length !== this.waiting.length || new Set(order).size !== keys.length)
      return 'invalid_params';
    this.waiting = order;
    return null;
  }

  delete(key: string): null {
    this.waiting = this.waiting.filter((entry) => entry.key !== key);
    return null;
  }

  start(key: string | null): Code | null {
    if (!this.isLoaded) return 'thread_not_found';
    if (this.isRunning) return 'turn_active';
    const entry = this.waiting.find((each) => key === null || each.key === key);
    if (entry === undefined) return 'submission_not_found';
    this.#isHeld = false;
    this.#begin(entry);
    return null;
  }

  /** Input of a client, which does not wait in the queue. */
  turn(words: string): void {
    this.turns.push({ words, status: 'inProgress' });
  }

  /** The running turn ends. */
  end(status: 'completed' | 'failed' | 'interrupted'): void {
    this.#end(status);
    if (status === 'completed') this.#isHeld = false;
    if (status === 'interrupted') this.#isHeld = true;
    this.#goOn();
  }

  /** The server ends, or is killed. */
  lose(): void {
    this.#end('interrupted');
    this.isLoaded = false;
  }

  resume(): void {
    this.isLoaded = true;
    this.#goOn();
  }

  #end(status: string): void {
    const last = this.turns.at(-1);
    if (last !== undefined && this.isRunning) last.status = status;
  }

  #goOn(): void {
    const [next] = this.waiting;
    if (this.isLoaded && !this.isRunning && !this.#isHeld && next !== undefined) this.#begin(next);
  }

  #begin(entry: Entry): void {
    this.delete(entry.key);
    this.#begun.add(entry.key);
    this.turn(entry.words);
  }
}
