import {
  type JSONRPCMessage,
  StreamableHTTPClientTransport,
  type StreamableHTTPClientTransportOptions,
} from '@modelcontextprotocol/client';

type Sent = Parameters<StreamableHTTPClientTransport['send']>[1];

/**
 * So many answers to requests of the server may be on their way at a time: each is an HTTP request.
 */
const ANSWERS_MAX = 200;

/**
 * The library's transport, whose HTTP request also ends when the call that it belongs to is
 * cancelled.
 */
export class HttpTransport extends StreamableHTTPClientTransport {
  readonly #callSignal: () => AbortSignal | undefined;
  #answers = 0;

  /** `callSignal`: that of the call in whose course a message is sent. */
  constructor(
    url: URL,
    {
      callSignal,
      ...options
    }: StreamableHTTPClientTransportOptions & { callSignal: () => AbortSignal | undefined },
  ) {
    super(url, options);
    this.#callSignal = callSignal;
  }

  override async send(message: JSONRPCMessage, options?: Sent): Promise<void> {
    const requestSignal = options?.requestSignal ?? this.#callSignal();
    const send = () =>
      super.send(message, requestSignal === undefined ? options : { ...options, requestSignal });
    if ('method' in message) return send();
    if (this.#answers >= ANSWERS_MAX)
      throw new Error(`${ANSWERS_MAX} answers to the server are on their way already`);
    this.#answers++;
    try {
      await send();
    } finally {
      this.#answers--;
    }
  }
}
