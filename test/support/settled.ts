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
