import type { Thread, ThreadStartParams, Turn } from '../../src/protocol/generated/types.ts';
import { turnOf } from './expected.ts';
import type { TestClient } from './test-client.ts';
import { message, response, type ScriptedResponse, TestModel } from './test-model.ts';
import { startServer, type TestServer, type TestServerOptions } from './test-server.ts';

/**
 * Starts a thread and runs turns in it, each with a message of the user and an answer of the agent.
 * Returns the turns as clients were told of them, which is also how they should be read.
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
    const items = client
      .notifications('item/completed', ({ turnId }) => turnId === turn.id)
      .map(({ item }) => item);
    turns.push(turnOf({ ...turn, items, itemsView: 'full' }));
  }
  return { thread, turns };
}

const EXCHANGES: [said: string, answer: string][] = [
  ['one', 'first'],
  ['two', 'second'],
  ['three', 'third'],
];

/** A server with a thread that has no turn yet. */
export async function withThread(options: TestServerOptions = {}): Promise<TestServer> {
  const server = await startServer(options);
  await server.client.request('thread/start', {});
  return server;
}

/**
 * A server with a thread of two turns: `one`, answered by `first`, and `two`, answered by `second`.
 */
export async function withTwoTurns(options: TestServerOptions = {}) {
  const { turnIds, ...server } = await withTurns(2, options);
  return { ...server, turnIds: turnIds as [string, string] };
}

/** As `withTwoTurns`, with a third turn: `three`, answered by `third`. */
export async function withThreeTurns(options: TestServerOptions = {}) {
  const { turnIds, ...server } = await withTurns(3, options);
  return { ...server, turnIds: turnIds as [string, string, string] };
}

async function withTurns(count: number, options: TestServerOptions) {
  const server = await startServer(options);
  const { thread, turns } = await threadWith(server, EXCHANGES.slice(0, count));
  return { ...server, threadId: thread.id, turns, turnIds: turns.map(({ id }) => id) };
}

/** A server with a thread without turns, whose model gives these responses. */
export async function threadAnswering(
  responses: readonly ScriptedResponse[],
  options: TestServerOptions = {},
): Promise<TestServer> {
  return withThread({ model: new TestModel(...responses), ...options });
}

/** The turns of a thread, as `thread/read` returns them. */
export async function readTurns(
  client: Pick<TestClient, 'request'>,
  threadId: string,
): Promise<Turn[]> {
  return (await client.request('thread/read', { threadId, includeTurns: true })).thread.turns;
}
