import { AbstractMessageReader, type DataCallback, type Disposable } from 'vscode-jsonrpc/node';
import { isObject, parsedJson } from '../base/json-value.ts';
import type { Log } from '../base/log.ts';
import { parseJson, SHORT_JSON_CHARS } from '../base/parse-long-json.ts';
import { jsonFault } from '../base/text/json-fault.ts';
import { idText } from '../protocol/id-text.ts';
import { LINE_BYTES_MAX } from '../protocol/line-bytes-max.ts';
import type { RequestIds } from './request-ids.ts';
import type { Transport } from './transport.ts';
import type { WireTap } from './wire-tap.ts';

/** A client's response to a request of the server. `id` has not been validated. */
export interface ClientResponse {
  id: unknown;
  result?: unknown;
  error?: unknown;
}

export interface JsonReaderOptions {
  ids: RequestIds;
  log: Log;
  tap: WireTap | null;
  /**
   * Called for each request of a short line, before it is passed on. The params have not been
   * validated.
   */
  onShortRequest: (method: string, params: unknown) => void;
  /** Called for each request beyond the limit, with the JSON text of its id. */
  onOverload: (idText: string) => void;
}

/**
 * Notifications that the reader makes itself, so that everything passes through the one queue of
 * vscode-jsonrpc and keeps its order. `answer`: a response to a request of the server, a
 * ClientResponse. It cannot pass as a response, since vscode-jsonrpc knows only the ids of its own
 * requests. `end`: the input has ended. Clients cannot send them: the reader skips their
 * notifications that begin with $/.
 */
export const READER_NOTIFICATIONS = { answer: '$/answer', end: '$/end' } as const;

/** The maximum number of unanswered requests of a client. Further requests are refused at once. */
export const REQUESTS_IN_FLIGHT_MAX = 8192;

/** The total length of their lines, in characters, beyond which reading stops. */
const REQUESTS_CHARS_MAX = 64 * 1024 * 1024;

/**
 * Reads JSON-RPC messages. Skips and logs everything else: a batch, a scalar, a float or null id,
 * broken JSON.
 */
export class JsonReader extends AbstractMessageReader {
  readonly #transport: Transport;
  readonly #options: JsonReaderOptions;
  #pauses = 0;
  /** The messages behind a long one that is being parsed. Null: none is. */
  #behind: string[] | null = null;
  /** Resolves when no long message is being parsed. */
  #parsed: Promise<void> = Promise.resolve();

  constructor(transport: Transport, options: JsonReaderOptions) {
    super();
    this.#transport = transport;
    this.#options = options;
  }

  override listen(callback: DataCallback): Disposable {
    const { log } = this.#options;
    const dispose = this.#transport.listen({
      onMessage: (text) => this.#receiveInOrder(text, callback),
      onSkipped: (reason) => log.warn({ reason, bytesMax: LINE_BYTES_MAX }, 'skipped a message'),
      onEnd: (error) => {
        if (error !== null) log.warn({ err: error }, 'reading from the client failed');
        void this.#parsed.then(() => callback(wire({ method: READER_NOTIFICATIONS.end })));
      },
    });
    return { dispose };
  }

  /** Stops reading until as many calls of `resume`: the client's writes wait. */
  pause(): void {
    this.#pauses++;
    this.#transport.pause();
  }

  resume(): void {
    this.#pauses--;
    if (this.#pauses === 0) this.#transport.resume();
  }

  #receiveInOrder(line: string, callback: DataCallback): void {
    if (this.#behind !== null) this.#behind.push(line);
    else if (line.length <= SHORT_JSON_CHARS) this.#receive(line, callback, parsedJson(line));
    else this.#parsed = this.#receiveLong(line, callback);
  }

  /**
   * Parses a long message while other work goes on, and then takes the messages that came
   * meanwhile.
   */
  async #receiveLong(line: string, callback: DataCallback): Promise<void> {
    this.#behind = [line];
    this.pause();
    for (let next = this.#behind.shift(); next !== undefined; next = this.#behind.shift()) {
      this.#receive(next, callback, await parseJson(next));
    }
    this.#behind = null;
    this.resume();
  }

  #receive(line: string, callback: DataCallback, value: unknown): void {
    this.#options.tap?.received(line);
    const message = messageIn(value);
    if (message === undefined) {
      if (line.trim() !== '')
        this.#options.log.warn({ ...whyNoMessage(line, value), length: line.length }, SKIPPED);
      return;
    }
    const { method } = message;
    if (typeof method !== 'string') {
      const params: ClientResponse = {
        id: message.id,
        result: message.result,
        error: message.error,
      };
      callback(wire({ method: READER_NOTIFICATIONS.answer, params }));
      return;
    }
    if (!('id' in message)) {
      // vscode-jsonrpc handles `$/cancelRequest` and the like itself, and throws for bad ones. This
      // protocol has none.
      if (!method.startsWith('$/')) callback(wire({ method, params: message.params }));
      return;
    }
    const text = idText(message.id, line);
    if (text === null)
      this.#options.log.warn(
        { method },
        'skipped a request whose id is neither a string nor an integer',
      );
    else if (this.#options.ids.size >= REQUESTS_IN_FLIGHT_MAX) this.#options.onOverload(text);
    else {
      if (line.length <= SHORT_JSON_CHARS) this.#options.onShortRequest(method, message.params);
      callback(
        wire({
          id: this.#options.ids.open(text, line.length, message.params),
          method,
          params: message.params,
        }),
      );
    }
    if (this.#options.ids.length > REQUESTS_CHARS_MAX) this.#waitForAnswers();
  }

  /** Stops reading beyond the limit, since requests stay in memory until they are answered. */
  #waitForAnswers(): void {
    this.pause();
    void this.#options.ids.below(REQUESTS_CHARS_MAX / 2).then(() => this.resume());
  }
}

const SKIPPED = 'skipped an invalid JSON-RPC message';

const HEADER = /^Content-(?:Length|Type):/i;

/**
 * Why a line has no message. `column`: where its JSON is not valid, from 1; a long line is not
 * searched for that.
 */
function whyNoMessage(line: string, value: unknown): { reason: string; column?: number } {
  if (value === undefined) {
    if (HEADER.test(line))
      return {
        reason: 'it is a header: start heddle with --framing content-length to send headers',
      };
    const fault = line.length <= SHORT_JSON_CHARS ? jsonFault(line) : null;
    return fault === null
      ? { reason: 'it is not valid JSON' }
      : { reason: `it is not valid JSON: ${fault.reason}`, column: fault.index + 1 };
  }
  if (Array.isArray(value)) return { reason: 'it is a list: send each message by itself' };
  if (!isObject(value)) return { reason: 'it is not an object with a method' };
  return {
    reason:
      value.method === undefined
        ? 'it has neither a method nor an id'
        : 'its method is not a string',
  };
}

/**
 * The message that a line has: an object with a method or an id. Returns undefined for anything
 * else.
 */
function messageIn(value: unknown): Record<string, unknown> | undefined {
  if (!isObject(value)) return undefined;
  return typeof value.method === 'string' || (value.method === undefined && 'id' in value)
    ? value
    : undefined;
}

function wire<T extends object>(message: T): T & { jsonrpc: string } {
  return { jsonrpc: '2.0', ...message };
}
