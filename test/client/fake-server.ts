import { PassThrough } from 'node:stream';
import { onTestFinished } from 'vitest';
import { LineSplitter } from '../../src/base/text/line-splitter.ts';
import type { Client } from '../../src/client/client.ts';
import type { ClientOptions } from '../../src/client/client-options.ts';
import { connect } from '../../src/client/connect.ts';
import { LINE_BYTES_MAX } from '../../src/protocol/line-bytes-max.ts';

export interface Sent {
  id?: unknown;
  method?: string;
  params?: unknown;
  result?: unknown;
  error?: unknown;
}

/**
 * The server's end of a client's streams: sends what the test tells it to, and keeps all messages
 * from the client.
 */
export class FakeServer {
  readonly client: Client;
  /** The stream that the client reads. */
  readonly toClient = new PassThrough();
  /** The stream that the client writes to. */
  readonly fromClient = new PassThrough();
  readonly lines: string[] = [];
  readonly skipped: string[] = [];
  #waiting: (() => void)[] = [];

  constructor(options: ClientOptions = {}) {
    this.client = connect({
      input: this.toClient,
      output: this.fromClient,
      onSkipped: (reason) => this.skipped.push(reason),
      ...options,
    });
    const lines = new LineSplitter(
      (line) => this.#take(line),
      () => {},
      LINE_BYTES_MAX,
    );
    this.fromClient.on('data', (chunk: Buffer) => lines.push(chunk));
    this.fromClient.on('end', () => this.toClient.end());
    onTestFinished(() => {
      this.toClient.destroy();
    });
  }

  get messages(): Sent[] {
    return this.lines.map((line) => JSON.parse(line) as Sent);
  }

  /** Resolves with the client's message of this number, the first is 0, when it has come. */
  async message(index: number): Promise<Sent> {
    while (this.lines.length <= index)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return JSON.parse(this.lines[index] ?? '') as Sent;
  }

  /** Sends messages in one write. */
  send(...messages: object[]): void {
    this.write(messages.map((message) => `${JSON.stringify(message)}\n`).join(''));
  }

  write(text: string | Buffer): void {
    this.toClient.write(text);
  }

  /** Ends the server's side. Everything that it wrote can still be read. */
  end(): void {
    this.toClient.end();
  }

  /** Resolves when the client has taken everything that was sent so far. */
  async settled(): Promise<void> {
    await this.client.call(SETTLED);
  }

  #take(line: string): void {
    const { id, method } = JSON.parse(line) as Sent;
    if (method === SETTLED) {
      this.send({ id, result: null });
      return;
    }
    this.lines.push(line);
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** A request that the server answers by itself and does not keep. */
const SETTLED = 'test/settled';

export const THREAD = 'thread-1';

export function delta(text: string, { threadId = THREAD, turnId = 'turn-1' } = {}) {
  return {
    method: 'item/agentMessage/delta',
    params: { threadId, turnId, itemId: 'item-1', delta: text },
  };
}

export function completed(text: string, { turnId = 'turn-1' } = {}) {
  const item = { type: 'agentMessage', id: 'item-1', text };
  return { method: 'item/completed', params: { threadId: THREAD, turnId, item, completedAtMs: 1 } };
}

export function turn(status: string, id = 'turn-1') {
  return {
    id,
    items: [],
    itemsView: 'notLoaded',
    status,
    error: null,
    startedAt: 1,
    completedAt: null,
    durationMs: null,
  };
}

export function turnCompleted(status = 'completed', id = 'turn-1') {
  return { method: 'turn/completed', params: { threadId: THREAD, turn: turn(status, id) } };
}
