import type { UserInput } from '../../src/protocol/generated/types.ts';
import { idOf } from './counting-ids.ts';
import { Gate } from './gate.ts';
import { type TestClient, text } from './test-client.ts';
import { message, response, type ScriptedResponse } from './test-model.ts';
import type { TestServer, TestServerOptions } from './test-server.ts';
import { threadAnswering } from './thread-with.ts';

type Client = Pick<TestClient, 'request'>;

/** Adds a submission to the queue of a thread. Its words are also its `clientUserMessageId`. */
export async function queue(
  client: Client,
  words: string,
  { threadId = idOf(1), input = text(words) }: { threadId?: string; input?: UserInput[] } = {},
) {
  const { queuedSubmission } = await client.request('thread/queue/add', {
    threadId,
    clientUserMessageId: words,
    input,
  });
  return queuedSubmission;
}

/** The `clientUserMessageId`s of the queue of a thread, the next one first. */
export async function waiting(client: Client, threadId = idOf(1)): Promise<string[]> {
  const { data } = await client.request('thread/queue/list', { threadId });
  return data.map(({ clientUserMessageId }) => clientUserMessageId);
}

/** Why the queue of a thread is held. */
export async function heldBecause(client: Client, threadId = idOf(1)) {
  return (await client.request('thread/queue/list', { threadId })).heldBecause;
}

/** The words of the user in all turns of a thread, and how the turns ended. */
export async function turnsOf(client: Client, threadId = idOf(1)): Promise<string[]> {
  const { thread } = await client.request('thread/read', { threadId, includeTurns: true });
  return thread.turns.map(({ items, status }) => {
    const words = items.flatMap((item) =>
      item.type === 'userMessage'
        ? item.content.map((part) => ('text' in part ? part.text : part.type))
        : [],
    );
    return `${words.join(' + ')}: ${status}`;
  });
}

/** A server whose thread runs a turn, `go`, until the gate opens. Then the model says this. */
export async function busyThread(
  responses: readonly ScriptedResponse[],
  options: TestServerOptions = {},
): Promise<TestServer & { gate: Gate; turnId: string }> {
  const gate = new Gate();
  const server = await threadAnswering([response([gate], message('went')), ...responses], options);
  const { turn } = await server.client.request('turn/start', {
    threadId: idOf(1),
    input: text('go'),
  });
  await gate.reached;
  return { ...server, gate, turnId: turn.id };
}

/** As `busyThread`, with these entries in the queue, once the turn is interrupted. */
export async function heldQueue(
  entries: readonly string[],
  responses: readonly ScriptedResponse[],
  options: TestServerOptions = {},
) {
  const server = await busyThread(responses, options);
  for (const words of entries) await queue(server.client, words);
  await interrupt(server.client, server.turnId);
  return server;
}

/** Interrupts a turn of the thread, and waits for its end. */
export async function interrupt(client: TestClient, turnId: string): Promise<void> {
  await client.request('turn/interrupt', { threadId: idOf(1), turnId });
  await client.turnCompleted(turnId);
}

/** Resolves when so many turns of the thread have ended. */
export async function turnsEnded(client: TestClient, count: number): Promise<void> {
  await client.waitFor(
    'turn/completed',
    () => client.notifications('turn/completed').length >= count,
  );
}
