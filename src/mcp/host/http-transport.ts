import {
  type JSONRPCMessage,
  StreamableHTTPClientTransport,
  type StreamableHTTPClientTransportOptions,
} from '@modelcontextprotocol/client';

type Sent = Parameters<StreamableHTTPClientTransport['send']>[1];

/** The library's transport, whose HTTP request also ends when the call that it belongs to is cancelled. */
export class HttpTransport extends StreamableHTTPClientTransport {
  readonly #callSignal: () => AbortSignal | undefined;

  /** `callSignal`: that of the call in whose course a message is sent. */
  constructor(url: URL, { callSignal, ...options }: StreamableHTTPClientTransportOptions & { callSignal: () => AbortSignal | undefined }) {
    super(url, options);
    this.#callSignal = callSignal;
  }

  override send(message: JSONRPCMessage, options?: Sent): Promise<void> {
    const requestSignal = options?.requestSignal ?? this.#callSignal();
    return super.send(message, requestSignal === undefined ? options : { ...options, requestSignal });
  }
}
