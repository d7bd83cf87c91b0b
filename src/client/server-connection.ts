import { isObject, parsedJson } from '../base/json-value.ts';
import { LineSplitter } from '../base/text/line-splitter.ts';
import { KIND, requireOptions } from '../base/text/require-options.ts';
import { idText } from '../protocol/id-text.ts';
import type { ClientOptions, ClientTransport, RequestOptions } from './client-options.ts';
import { ConnectionError, RequestError, RequestTimeoutError } from './request-error.ts';

/** A longer line ends the connection, since it may be a response that a caller waits for. */
const SERVER_LINE_BYTES_MAX = 256 * 1024 * 1024;
const SHOWN_CHARS_MAX = 200;

/** A request of the server. */
export interface Asked {
  id: unknown;
  /** The id as JSON text, exact to the last digit. */
  idText: string;
  method: string;
  params: unknown;
}

/** Receives the server's notifications and requests. */
export interface Receiver {
  onNotification(method: string, params: Record<string, unknown>): void;
  onRequest(asked: Asked): void;
  /** Called once, after the last message. */
  onClosed(error: ConnectionError): void;
}

interface Pending {
  method: string;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** Reads and writes messages as lines, and matches responses to requests. */
export class ServerConnection {
  readonly #output: ClientTransport['output'];
  readonly #options: ClientOptions;
  readonly #receiver: Receiver;
  readonly #pending = new Map<unknown, Pending>();
  #nextId = 1;
  /** Why nothing can be sent any more; null while it can. */
  #over: string | null = null;
  #finished = false;

  constructor({ input, output }: ClientTransport, options: ClientOptions, receiver: Receiver) {
    this.#output = output;
    this.#options = options;
    this.#receiver = receiver;
    const lines = new LineSplitter(
      (line) => this.#receive(line),
      (reason) => this.#skip(reason),
      SERVER_LINE_BYTES_MAX,
    );
    // `lines.end()` is never called: a last line without its line end has been cut off.
    input.on('data', (chunk: Buffer) => lines.push(chunk));
  }

  /** Resolves with the result, which is not validated. */
  request(method: string, params: unknown, options: RequestOptions = {}): Promise<unknown> {
    const { signal, timeoutMs } = options;
    const id = this.#nextId++;
    let release = () => {};
    const answer = new Promise<unknown>((resolve, reject) => {
      requireOptions<RequestOptions>(method, options, {
        signal: KIND.signal,
        timeoutMs: KIND.milliseconds,
      });
      if (signal?.aborted) return reject(signal.reason);
      this.#pending.set(id, { method, resolve, reject });
      const onAbort = () => reject(signal?.reason);
      const onTimeout = () =>
        reject(new RequestTimeoutError(`${method}: no response after ${timeoutMs} ms`));
      const timer = timeoutMs === undefined ? undefined : setTimeout(onTimeout, timeoutMs);
      signal?.addEventListener('abort', onAbort);
      release = () => {
        this.#pending.delete(id);
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      };
      this.send({ id, method, params });
    });
    return answer.finally(release);
  }

  /** Throws a ConnectionError if nothing can be sent any more. */
  send(message: Record<string, unknown>): void {
    this.#sendLine(JSON.stringify(message), message);
  }

  /**
   * Responds to a request of the server. Takes JSON text: the id, and an object with the result or
   * error. Does nothing after the end.
   */
  answer(id: string, answer: string): void {
    if (this.#over !== null) return;
    const line = `{"id":${id},${answer.slice(1)}`;
    this.#sendLine(line, JSON.parse(line));
  }

  /** Closes the output: nothing can be sent any more. */
  closeOutput(): void {
    this.#over ??= 'this client has been closed';
    this.#output.end();
  }

  /** Ends the connection for this reason, and rejects all open requests with it. */
  finish(reason: string): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#over ??= reason;
    for (const { method, reject } of this.#pending.values())
      reject(new ConnectionError(`${method}: ${reason}`));
    this.#pending.clear();
    this.#receiver.onClosed(new ConnectionError(reason));
  }

  #sendLine(line: string, message: Record<string, unknown>): void {
    if (this.#over !== null) throw new ConnectionError(`${String(message.method)}: ${this.#over}`);
    this.#options.onMessage?.({ direction: 'sent', line, message });
    this.#output.write(`${line}\n`);
  }

  #receive(line: string): void {
    if (this.#finished) return;
    const message = parse(line);
    if (message === null) {
      this.#options.onSkipped?.(`a line is not a JSON object: ${line.slice(0, SHOWN_CHARS_MAX)}`);
      return;
    }
    this.#options.onMessage?.({ direction: 'received', line, message });
    const { id, method, params } = message;
    if (typeof method !== 'string') this.#settle(message);
    else if (!('id' in message))
      this.#receiver.onNotification(method, isObject(params) ? params : {});
    else this.#receiveRequest({ id, method, params }, line);
  }

  #receiveRequest({ id, method, params }: Omit<Asked, 'idText'>, line: string): void {
    const text = idText(id, line);
    if (text !== null) this.#receiver.onRequest({ id, idText: text, method, params });
    else
      this.#options.onSkipped?.(
        `the id of a request is neither a string nor an integer: ${line.slice(0, SHOWN_CHARS_MAX)}`,
      );
  }

  #settle({ id, result, error }: Record<string, unknown>): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    this.#pending.delete(id);
    if (error === undefined) pending.resolve(result);
    else pending.reject(requestError(pending.method, error));
  }

  #skip(reason: string): void {
    this.#options.onSkipped?.(reason === 'too_long' ? 'a line is too long' : 'a line is not UTF-8');
    if (reason === 'too_long')
      this.finish(`the server sent a line of more than ${SERVER_LINE_BYTES_MAX} bytes`);
  }
}

function parse(line: string): Record<string, unknown> | null {
  const value = parsedJson(line);
  return isObject(value) ? value : null;
}

function requestError(method: string, error: unknown): RequestError {
  const { code, message, data } = isObject(error) ? error : {};
  const text =
    typeof message === 'string' ? message : `refused without a message: ${JSON.stringify(error)}`;
  return new RequestError(
    method,
    typeof code === 'number' ? code : 0,
    text,
    isObject(data) ? data : {},
  );
}
