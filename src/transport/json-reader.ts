import { AbstractMessageReader, type DataCallback, type Disposable } from 'vscode-jsonrpc/node';
import { isObject, parsedJson } from '../base/json-value.ts';
import { LINE_BYTES_MAX } from '../base/line-splitter.ts';
import type { Log } from '../base/log.ts';
import { idText } from '../protocol/id-text.ts';
import { createSplitter } from './framing.ts';
import type { RequestIds } from './request-ids.ts';
import type { Transport } from './transport.ts';
import type { WireTap } from './wire-tap.ts';

/** A client's answer to a request of ours. `id` is as it came. */
export interface ClientResponse {
  id: unknown;
  result?: unknown;
  error?: unknown;
}

export interface JsonReaderOptions {
  ids: RequestIds;
  log: Log;
  tap: WireTap | null;
  /** Answers to requests of ours do not go through vscode-jsonrpc: their ids are the server's, not the connection's. */
  onResponse: (response: ClientResponse) => void;
  /** Called for a request past the limit, with the JSON text of its id. */
  onOverload: (idText: string) => void;
  /** The input has ended; everything that was whole has been handed on. */
  onEnd: () => void;
}

/** How many requests of one client may wait for their answers; what comes beyond is refused at once. */
export const REQUESTS_IN_FLIGHT_MAX = 8192;

/** How long their lines may be together before reading stops, in characters. */
const REQUESTS_CHARS_MAX = 64 * 1024 * 1024;

/** Reads JSON-RPC messages. What is none (a batch, a scalar, a float or null id, broken JSON) is skipped and logged. */
export class JsonReader extends AbstractMessageReader {
  readonly #transport: Transport;
  readonly #options: JsonReaderOptions;

  constructor(transport: Transport, options: JsonReaderOptions) {
    super();
    this.#transport = transport;
    this.#options = options;
  }

  override listen(callback: DataCallback): Disposable {
    const { log, onEnd } = this.#options;
    const { input, framing = 'lines' } = this.#transport;
    const splitter = createSplitter(
      framing,
      (text) => this.#receive(text, callback),
      (reason) => log.warn({ reason, bytesMax: LINE_BYTES_MAX }, 'skipped a message'),
    );
    const onData = (chunk: Buffer) => splitter.push(chunk);
    const onError = (error: Error) => {
      log.warn({ err: error }, 'reading failed');
      onEnd();
    };
    input.on('data', onData);
    const onInputEnd = () => {
      splitter.end();
      onEnd();
    };
    input.once('end', onInputEnd);
    input.once('error', onError);
    return {
      dispose: () => {
        input.off('data', onData);
        input.off('end', onInputEnd);
        input.off('error', onError);
      },
    };
  }

  /** Stops reading until `resume`: the client's writes wait. */
  pause(): void {
    this.#transport.input.pause();
  }

  resume(): void {
    this.#transport.input.resume();
  }

  #receive(line: string, callback: DataCallback): void {
    this.#options.tap?.received(line);
    const message = parse(line);
    if (message === undefined) {
      if (line.trim() !== '') this.#options.log.warn({ length: line.length }, 'skipped what is no JSON-RPC message');
      return;
    }
    const { method } = message;
    if (typeof method !== 'string') {
      this.#options.onResponse({ id: message.id, result: message.result, error: message.error });
      return;
    }
    if (!('id' in message)) {
      // `$/cancelRequest` and its kin are vscode-jsonrpc's own; this protocol has none, and bad ones make it throw.
      if (!method.startsWith('$/')) callback(wire({ method, params: message.params }));
      return;
    }
    const text = idText(message.id, line);
    if (text === null) this.#options.log.warn({ method }, 'skipped a request whose id is neither a string nor an integer');
    else if (this.#options.ids.size >= REQUESTS_IN_FLIGHT_MAX) this.#options.onOverload(text);
    else callback(wire({ id: this.#options.ids.open(text, line.length), method, params: message.params }));
    if (this.#options.ids.length > REQUESTS_CHARS_MAX) this.#waitForAnswers();
  }

  /** What a client asks is in memory until it is answered: past the limit, no more of it is read. */
  #waitForAnswers(): void {
    this.pause();
    void this.#options.ids.below(REQUESTS_CHARS_MAX / 2).then(() => this.resume());
  }
}

/** An object with a method or an id; undefined for anything else. */
function parse(line: string): Record<string, unknown> | undefined {
  const value = parsedJson(line);
  if (!isObject(value)) return undefined;
  return typeof value.method === 'string' || (value.method === undefined && 'id' in value) ? value : undefined;
}

function wire<T extends object>(message: T): T & { jsonrpc: string } {
  return { jsonrpc: '2.0', ...message };
}
