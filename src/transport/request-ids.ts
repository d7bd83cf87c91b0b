/**
 * Our own ids for the requests that a client has in flight. vscode-jsonrpc takes ids for map keys: the second of two
 * requests with one id, or with 11 and "11", would be lost, and integers above 2^53 would come back changed. So the
 * reader numbers requests itself and the writer puts back the id's own JSON text.
 */
export class RequestIds {
  readonly #open = new Map<number, { idText: string; length: number }>();
  #next = 1;
  #length = 0;
  #waiting: { lengthMax: number; resolve: () => void }[] = [];

  /** How many requests wait for their answer. */
  get size(): number {
    return this.#open.size;
  }

  /** How long their lines are together, in characters. */
  get length(): number {
    return this.#length;
  }

  /** Takes the JSON text of a client's id, and the length of its line; gives the number that stands for it. */
  open(idText: string, length: number): number {
    const id = this.#next++;
    this.#open.set(id, { idText, length });
    this.#length += length;
    return id;
  }

  /** The JSON text that `id` stands for; undefined when it was closed before. */
  close(id: number): string | undefined {
    const request = this.#open.get(id);
    if (request === undefined) return undefined;
    this.#open.delete(id);
    this.#length -= request.length;
    const over = this.#waiting.filter(({ lengthMax }) => this.#length <= lengthMax);
    this.#waiting = this.#waiting.filter(({ lengthMax }) => this.#length > lengthMax);
    for (const { resolve } of over) resolve();
    return request.idText;
  }

  /** Resolves when what waits is no longer than this. */
  below(lengthMax: number): Promise<void> {
    if (this.#length <= lengthMax) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ lengthMax, resolve }));
  }

  /** Resolves when every request has been answered. */
  empty(): Promise<void> {
    return this.below(0);
  }
}
