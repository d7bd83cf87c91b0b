import type { Writable } from 'node:stream';
import type { TestClient } from './test-client.ts';

/** Enough to pass the thread's queue and the store after whatever is due has begun. */
const ROUNDS = 4;

/**
 * Resolves when the server has taken all that the client sent before, though it may not have
 * answered all of it.
 */
export async function taken(client: Pick<TestClient, 'request'>): Promise<void> {
  await client.request('thread/loaded/list', {});
}

/**
 * Resolves when anything that is due in a thread has had its chance to begin. The thread may be
 * gone by then.
 */
export async function settled(client: Pick<TestClient, 'ask'>, threadId: string): Promise<void> {
  for (let round = 0; round < ROUNDS; round++)
    await client.ask('thread/read', { threadId, includeTurns: true });
}

/** Resolves when a thread is idle: its turn has ended, and nothing of it is left to do. */
export async function idle(client: Pick<TestClient, 'request'>, threadId: string): Promise<void> {
  for (;;) {
    const { thread } = await client.request('thread/read', { threadId });
    if (thread.status.type === 'idle') return;
  }
}

/** Resolves in the next round of the event loop. */
export function nextRound(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Resolves when a full stream takes more, or has closed. */
export function drained(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stream.off('drain', done).off('close', done);
      resolve();
    };
    stream.on('drain', done).on('close', done);
  });
}
