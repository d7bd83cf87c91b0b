import type { ServerRequestContext } from './client-options.ts';
import type { Asked, ServerConnection } from './server-connection.ts';

const METHOD_NOT_FOUND = -32601;
const INTERNAL_ERROR = -32603;

type Handler = (params: unknown, context: ServerRequestContext) => unknown;

/**
 * The handlers of the server's requests. Each request gets one response, or none if the server no
 * longer waits for it.
 */
export class ServerRequestHandlers {
  readonly #unhandled: 'refuse' | 'leave';
  readonly #handlers = new Map<string, Handler>();
  /** By the request's parsed id. */
  readonly #running = new Map<unknown, AbortController>();

  constructor(unhandled: 'refuse' | 'leave') {
    this.#unhandled = unhandled;
  }

  /** Returns a function that removes the handler. Throws if the method already has one. */
  add(method: string, handler: Handler): () => void {
    if (this.#handlers.has(method))
      throw new Error(`${method} already has a handler: remove that first`);
    this.#handlers.set(method, handler);
    return () => {
      if (this.#handlers.get(method) === handler) this.#handlers.delete(method);
    };
  }

  /** Responds when the handler has returned. */
  async answer({ id, idText, method, params }: Asked, connection: ServerConnection): Promise<void> {
    // Resuming a thread sends its open requests again.
    if (this.#running.has(id)) return;
    const handler = this.#handlers.get(method);
    if (handler === undefined) {
      if (this.#unhandled === 'refuse')
        connection.answer(
          idText,
          failure(METHOD_NOT_FOUND, `${method} is not supported by this client`),
        );
      return;
    }
    const controller = new AbortController();
    this.#running.set(id, controller);
    // The connection has checked the id.
    const answer = await outcome(handler, params, {
      id: id as string | number,
      signal: controller.signal,
    });
    if (!controller.signal.aborted) connection.answer(idText, answer);
    if (this.#running.get(id) === controller) this.#running.delete(id);
  }

  /** Tells the handler that the server no longer waits for a response to this request. */
  release(id: unknown): void {
    this.#running.get(id)?.abort();
    this.#running.delete(id);
  }

  releaseAll(): void {
    for (const id of [...this.#running.keys()]) this.release(id);
  }
}

/** The response as JSON text. Never rejects, whatever the handler does. */
async function outcome(
  handler: Handler,
  params: unknown,
  context: ServerRequestContext,
): Promise<string> {
  try {
    return `{"result":${json((await handler(params, context)) ?? null)}}`;
  } catch (error) {
    return failure(INTERNAL_ERROR, textOf(error));
  }
}

function json(result: unknown): string {
  const text: string | undefined = JSON.stringify(result);
  if (text === undefined)
    throw new TypeError(
      `the handler returned a value that JSON cannot represent: ${typeof result}`,
    );
  return text;
}

/** The message of a thrown value, even one that cannot be converted to a string. */
function textOf(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error);
  } catch {
    return 'the handler failed';
  }
}

function failure(code: number, message: string): string {
  return JSON.stringify({ error: { code, message } });
}
