/**
 * The server's own numbers for a client's open requests. vscode-jsonrpc uses ids as map keys: of two requests with the same id,
 * or with 11 and "11", the second would be lost, and integers above 2^53 would be changed in the response. So the reader numbers
 * the requests, and the writer puts the JSON text of the client's id back.
 */
export class RequestIds {
  readonly #open = new Map<number, { idText: string; length: number }>();
  /** The JSON texts of the ids of requests, by the params of the requests. */
  readonly #named = new WeakMap<object, string>();
  #next = 1;
  #length = 0;
  #waiting: { lengthMax: number; resolve: () => void }[] = [];

  /** The number of open requests. */
  get size(): number {
    return this.#open.size;
  }

  /** The total length of their lines, in characters. */
  get length(): number {
    return this.#length;
  }

  /**
   * Opens a request, given the JSON text of its id, the length of its line and its params. Returns the number that stands for it.
   */
  open(idText: string, length: number, params?: unknown): number {
    if (typeof params === 'object' && params !== null) this.#named.set(params, idText);
    const id = this.#next++;
    this.#open.set(id, { idText, length });
    this.#length += length;
    return id;
  }

  /** The JSON text of the id of the request with these params; null: no request has them. */
  idTextOf(params: object): string | null {
    return this.#named.get(params) ?? null;
  }

  /** Closes a request. Returns the JSON text of its id, or undefined if it was closed before. */
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

  /** Resolves when the total length is at most this. */
  below(lengthMax: number): Promise<void> {
    if (this.#length <= lengthMax) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ lengthMax, resolve }));
  }

  /** Resolves when every request has been answered. */
  empty(): Promise<void> {
    return this.below(0);
  }
}
