import { expect, onTestFinished, test } from 'vitest';
import { createAppServer, type Transport, type TransportEvents } from '../../src/index.ts';
import { tempFolder } from '../config/temp-folder.ts';

/** A transport that carries whole messages, as a websocket does. */
class MessageTransport implements Transport {
  readonly sent: string[] = [];
  readonly backlog = 0;
  isEnded = false;
  #events: TransportEvents | null = null;
  #waiting: (() => void)[] = [];

  listen(events: TransportEvents): () => void {
    this.#events = events;
    return () => {
      this.#events = null;
    };
  }

  pause(): void {}

  resume(): void {}

  write(texts: readonly string[], onTaken: () => void): void {
    this.sent.push(...texts);
    for (const resolve of this.#waiting.splice(0)) resolve();
    onTaken();
  }

  onWriteError(): void {}

  end(): void {
    this.isEnded = true;
  }

  receive(message: object): void {
    this.#events?.onMessage(JSON.stringify(message));
  }

  disconnect(): void {
    this.#events?.onEnd(null);
  }

  /** The message with this id, come already or still to come. */
  async answer(id: number): Promise<Record<string, unknown>> {
    for (;;) {
      const found = this.sent
        .map((text) => JSON.parse(text) as Record<string, unknown>)
        .find((message) => message.id === id);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }
}

test('a transport of messages serves a client: no bytes, lines or frames are needed', async () => {
  const server = createAppServer({ home: tempFolder() });
  onTestFinished(async () => void (await server.close()));
  const transport = new MessageTransport();
  const served = server.connect(transport);
  transport.receive({
    id: 1,
    method: 'initialize',
    params: { clientInfo: { name: 'test', version: '1' } },
  });
  expect(await transport.answer(1)).toMatchObject({ result: { serverInfo: { name: 'heddle' } } });
  transport.receive({ id: 2, method: 'thread/start', params: { cwd: tempFolder() } });
  expect(await transport.answer(2)).toMatchObject({
    result: { thread: { status: { type: 'idle' } } },
  });
  expect(transport.sent.every((text) => !text.includes('\n'))).toBe(true);
  transport.disconnect();
  await served;
  expect(transport.isEnded).toBe(true);
});
