/** Of more facts, the oldest are told again. */
const TOLD_MAX = 100;

/** The facts that clients have been told once in a thread. */
export class News {
  /** As JSON. */
  readonly #told = new Set<string>();

  /** Whether clients have not been told this in the thread yet. They have from now on. */
  isNew(...facts: readonly string[]): boolean {
    const fact = JSON.stringify(facts);
    if (this.#told.has(fact)) return false;
    this.#told.add(fact);
    for (const oldest of this.#told) if (this.#told.size > TOLD_MAX) this.#told.delete(oldest);
    return true;
  }
}
