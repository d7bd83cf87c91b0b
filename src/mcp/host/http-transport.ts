import {
  type JSONRPCMessage,
  StreamableHTTPClientTransport,
  type StreamableHTTPClientTransportOptions,
  type Transport,
} from '@modelcontextprotocol/client';
import { limitMessage } from './limit-message.ts';

type Sent = Parameters<StreamableHTTPClientTransport['send']>[1];

/** The library's transport, with limits of messages. Its HTTP request also ends when the call that it belongs to is cancelled. */
export class HttpTransport extends StreamableHTTPClientTransport {
  readonly #callSignal: () => AbortSignal | undefined;

  /** `callSignal`: that of the call in whose course a message is sent. */
  constructor(url: URL, { callSignal, ...options }: StreamableHTTPClientTransportOptions & { callSignal: () => AbortSignal | undefined }) {
    super(url, options);
    this.#callSignal = callSignal;
    let onMessage: Transport['onmessage'];
    // Not as members of the class: the field of the library's class would hide them.
    Object.defineProperty(this, 'onmessage', {
      get: () => onMessage,
      set(take: ((message: JSONRPCMessage) => void) | undefined) {
        onMessage = (message) => {
          limitMessage(message);
          take?.(message);
        };
      },
    });
  }

  override send(message: JSONRPCMessage, options?: Sent): Promise<void> {
    const requestSignal = options?.requestSignal ?? this.#callSignal();
    return super.send(message, requestSignal === undefined ? options : { ...options, requestSignal });
  }
}
