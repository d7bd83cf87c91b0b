import type { Client } from '../../client/client.ts';
import type { ServerRequestMethod } from '../../client/client-options.ts';
import type { ProtocolFields } from './protocol-fields.ts';

/** A request of the server that waits for its answer. */
interface OpenRequest {
  id: unknown;
  method: string;
  params: unknown;
  answer(result: unknown): void;
  refuse(message: string): void;
}

/** The requests of the server that wait for their answers, the oldest first. */
export class OpenRequests {
  readonly #open: OpenRequest[] = [];
  readonly #onOpened: (request: OpenRequest) => void;
  readonly #onClosed: () => void;

  /** Handles all requests that the protocol lets a server send. */
  constructor(
    client: Client,
    { serverRequests }: ProtocolFields,
    on: { opened(request: OpenRequest): void; closed(): void },
  ) {
    this.#onOpened = on.opened;
    this.#onClosed = on.closed;
    for (const method of serverRequests) this.#handle(client, method as ServerRequestMethod);
  }

  get isEmpty(): boolean {
    return this.#open.length === 0;
  }

  all(): readonly OpenRequest[] {
    return [...this.#open];
  }

  /** The one with this id, or the oldest. */
  find(id: number | null): OpenRequest | undefined {
    return id === null ? this.#open[0] : this.#open.find((request) => request.id === id);
  }

  #handle(client: Client, method: ServerRequestMethod): void {
    client.handle(method, (params, { id, signal }) => {
      return new Promise<never>((resolve, reject) => {
        const request: OpenRequest = {
          ...{ id, method, params },
          answer: (result) => this.#close(request, () => resolve(result as never)),
          refuse: (message) => this.#close(request, () => reject(new Error(message))),
        };
        this.#open.push(request);
        signal.addEventListener('abort', () =>
          this.#close(request, () => reject(new Error('the answer is not needed any more'))),
        );
        this.#onOpened(request);
      });
    });
  }

  #close(request: OpenRequest, settle: () => void): void {
    const index = this.#open.indexOf(request);
    if (index >= 0) this.#open.splice(index, 1);
    settle();
    this.#onClosed();
  }
}
