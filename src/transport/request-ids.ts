/**
 * The server's own numbers for a client's open requests. vscode-jsonrpc uses ids as map keys: of
 * two requests with the same id, or with 11 and "11", the second would be lost, and integers above
 * 2^53 would be changed in the response. So the reader numbers the requests, and the writer puts
 * the JSON text of the client's id back.
 */
export class RequestIds {
  readonly #open = new Map<number, { idText: string; length: number; params: unknown }>();
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
   * Opens a request, given the JSON text of its id, the length of its line and its params. Returns
   * the number that stands for it.
   */
  open(idText: string, length: number, params?: unknown): number {
    const id = this.#next++;
    this.#open.set(id, { idText, length, params });
    this.#length += length;
    return id;
  }

  /**
   * The params of the open requests with this id. Integers beyond 2^53 that are read as the same
   * number are the same id.
   */
  paramsOf(id: string | number): object[] {
    const idText = JSON.stringify(id);
    return [...this.#open.values()].flatMap((request) => {
      const { params } = request;
      return typeof params === 'object' && params !== null && sameId(request.idText) === idText
        ? [params]
        : [];
    });
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

  /** Closes all open requests. Returns the JSON texts of their ids. */
  closeAll(): string[] {
    return [...this.#open.keys()].flatMap((id) => this.close(id) ?? []);
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

/** The JSON text of an id as it is once a message has been parsed. */
function sameId(idText: string): string {
  return JSON.stringify(JSON.parse(idText));
}
