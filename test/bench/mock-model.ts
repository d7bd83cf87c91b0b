import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The response to a request: the body of an event stream. */
type Answer = Buffer | (() => Buffer);

/**
 * A provider of the Responses API on loopback. It answers every request with prepared bytes and
 * does not read requests.
 */
export class MockModel {
  /** The response to the next requests. */
  answer: Answer = messageStream(['Done.']);
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      request.resume().on('end', () => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(typeof this.answer === 'function' ? this.answer() : this.answer);
      });
    });
    this.#server.keepAliveTimeout = 0;
  }

  static async listen(): Promise<MockModel> {
    const model = new MockModel();
    model.#server.listen(0, '127.0.0.1');
    await once(model.#server, 'listening');
    return model;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

/** A stream with one message, with these deltas. */
export function messageStream(deltas: readonly string[]): Buffer {
  const item = (text: string) => ({
    type: 'message',
    role: 'assistant',
    id: 'msg_1',
    content: [{ type: 'output_text', text }],
  });
  return stream([
    { type: 'response.output_item.added', output_index: 0, item: item('') },
    ...deltas.map((delta) => ({
      type: 'response.output_text.delta',
      item_id: 'msg_1',
      output_index: 0,
      content_index: 0,
      delta,
    })),
    { type: 'response.output_item.done', output_index: 0, item: item(deltas.join('')) },
  ]);
}

/** A stream with one tool call. */
export function callStream(callId: string, name: string, args: object): Buffer {
  const item = {
    type: 'function_call',
    id: `fc_${callId}`,
    call_id: callId,
    name,
    arguments: JSON.stringify(args),
  };
  return stream([
    { type: 'response.output_item.added', output_index: 0, item: { ...item, arguments: '' } },
    { type: 'response.output_item.done', output_index: 0, item },
  ]);
}

function stream(said: object[]): Buffer {
  const usage = {
    input_tokens: 1,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 1,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 2,
  };
  const events = [
    { type: 'response.created', response: { id: 'resp_1' } },
    ...said,
    { type: 'response.completed', response: { id: 'resp_1', usage } },
  ];
  return Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
}
