import type { ServerRequestContext } from './client-options.ts';
import type { Asked, ServerConnection } from './server-connection.ts';

const METHOD_NOT_FOUND = -32601;
const INTERNAL_ERROR = -32603;

type Handler = (params: unknown, context: ServerRequestContext) => unknown;

/** What answers the server's requests. Each request gets one answer, or none once nobody awaits it. */
export class ServerRequestHandlers {
  readonly #unhandled: 'refuse' | 'leave';
  readonly #handlers = new Map<string, Handler>();
  /** By the request's id as it was parsed. */
  readonly #running = new Map<unknown, AbortController>();

  constructor(unhandled: 'refuse' | 'leave') {
    this.#unhandled = unhandled;
  }

  /** Gives what removes the handler again. Throws where the method has one. */
  add(method: string, handler: Handler): () => void {
    if (this.#handlers.has(method)) throw new Error(`${method} has a handler already: remove that first`);
    this.#handlers.set(method, handler);
    return () => {
      if (this.#handlers.get(method) === handler) this.#handlers.delete(method);
    };
  }

  /** Answers once the handler has. */
  async answer({ id, idText, method, params }: Asked, connection: ServerConnection): Promise<void> {
    // A thread that is resumed shows again what is still open in it.
    if (this.#running.has(id)) return;
    const handler = this.#handlers.get(method);
    if (handler === undefined) {
      if (this.#unhandled === 'refuse') connection.answer(idText, failure(METHOD_NOT_FOUND, `${method} is not supported by this client`));
      return;
    }
    const controller = new AbortController();
    this.#running.set(id, controller);
    const answer = await outcome(handler, params, { signal: controller.signal });
    if (!controller.signal.aborted) connection.answer(idText, answer);
    if (this.#running.get(id) === controller) this.#running.delete(id);
  }

  /** Nobody awaits the answer to this request any more. */
  release(id: unknown): void {
    this.#running.get(id)?.abort();
    this.#running.delete(id);
  }

  releaseAll(): void {
    for (const id of [...this.#running.keys()]) this.release(id);
  }
}

/** The answer as JSON, whatever the handler does. */
async function outcome(handler: Handler, params: unknown, context: ServerRequestContext): Promise<string> {
  try {
    return `{"result":${json((await handler(params, context)) ?? null)}}`;
  } catch (error) {
    return failure(INTERNAL_ERROR, textOf(error));
  }
}

function json(result: unknown): string {
  const text: string | undefined = JSON.stringify(result);
  if (text === undefined) throw new TypeError(`what the handler gave is no JSON: ${typeof result}`);
  return text;
}

/** Of whatever was thrown: an object may have no text at all. */
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
