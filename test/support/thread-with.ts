import type { Thread, ThreadStartParams, Turn } from '../../src/protocol/generated/types.ts';
import { turnOf } from './expected.ts';
import { message, response } from './test-model.ts';
import type { TestServer } from './test-server.ts';

/**
 * Starts a thread with turns behind it, each what the user says and what the agent answers. `turns` is what the thread's
 * clients have been told of them, as a reader should find it.
 */
export async function threadWith(
  { client, model }: Pick<TestServer, 'client' | 'model'>,
  exchanges: [said: string, answer: string][],
  params: ThreadStartParams = {},
): Promise<{ thread: Thread; turns: Turn[] }> {
  const { thread } = await client.request('thread/start', params);
  const turns: Turn[] = [];
  for (const [said, answer] of exchanges) {
    model.push(response(message(answer)));
    const turn = await client.turn(thread.id, said);
    const items = client.notifications('item/completed', ({ turnId }) => turnId === turn.id).map(({ item }) => item);
    turns.push(turnOf({ ...turn, items, itemsView: 'full' }));
  }
  return { thread, turns };
}
