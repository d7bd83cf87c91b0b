import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ModelEvent } from '../../src/model/model.ts';
import type { ThreadItem } from '../../src/protocol/generated/types.ts';
import { idOf } from '../support/counting-ids.ts';
import { brief } from '../support/expected.ts';
import { runs } from '../support/runs.ts';
import {
  asked,
  conversation,
  message,
  response,
  retrying,
  said,
  TestModel,
  USAGE,
} from '../support/test-model.ts';
import { startServer, type TestServer } from '../support/test-server.ts';

const done: ModelEvent = { type: 'completed', usage: USAGE };
const again = retrying('The stream broke.');

/** The begin of a message with these deltas. */
function begun(id: string, ...deltas: string[]): ModelEvent[] {
  const [start] = message('', { id });
  return [
    start as ModelEvent,
    ...deltas.map((delta): ModelEvent => ({ type: 'textDelta', itemId: id, delta })),
  ];
}

function whole(id: string, text: string, chars = 2): ModelEvent[] {
  const deltas = text.match(new RegExp(`.{1,${chars}}`, 'gs')) ?? [];
  return [...begun(id, ...deltas), message(text, { id }).at(-1) as ModelEvent];
}

/**
 * Answers once, with these events up to the first retry that continues what is complete, then with
 * the next ones.
 */
async function afterAttempts(...attempts: ModelEvent[][]): Promise<TestServer> {
  const server = await startServer({
    model: new TestModel(...attempts, response(message('next'))),
  });
  await server.client.request('thread/start', {});
  await server.client.turn(idOf(1), 'hi');
  return server;
}

/**
 * The text of each message as a client that appends deltas shows it, in the order of their starts.
 */
function appendedTexts({ client }: TestServer): string[] {
  const texts = new Map<string, string>();
  for (const { item } of client.notifications('item/started'))
    if (item.type === 'agentMessage') texts.set(item.id, item.text);
  for (const { itemId, delta } of client.notifications('item/agentMessage/delta'))
    texts.set(itemId, (texts.get(itemId) ?? 'lost ') + delta);
  return [...texts.values()];
}

async function stored({ client }: TestServer): Promise<string[]> {
  const { thread } = await client.request('thread/read', { threadId: idOf(1), includeTurns: true });
  return brief(thread.turns[0]?.items ?? []);
}

const started = ({ client }: TestServer): ThreadItem['type'][] =>
  client.notifications('item/started').map(({ item }) => item.type);

test('a retry that gives the same answer goes on where the stream broke', async () => {
  const server = await afterAttempts([
    ...begun('m1', 'Hel', 'lo'),
    again,
    ...whole('m2', 'Hello world'),
    done,
  ]);
  expect(appendedTexts(server)).toEqual(['Hello world']);
  expect(await stored(server)).toEqual(['user: hi', 'agent: Hello world']);
});

test('a retry with a shorter answer that clients have seen in part completes it', async () => {
  const server = await afterAttempts([
    ...begun('m1', 'Hello world'),
    again,
    ...whole('m2', 'Hello'),
    done,
  ]);
  expect(started(server)).toEqual(['userMessage', 'agentMessage']);
  expect(await stored(server)).toEqual(['user: hi', 'agent: Hello']);
});

test('a retry with another answer shows it whole, as a message of its own', async () => {
  const server = await afterAttempts([
    ...begun('m1', 'Hello'),
    again,
    ...whole('m2', 'Help is here'),
    done,
  ]);
  expect(appendedTexts(server)).toEqual(['Hello', 'Help is here']);
  expect(await stored(server)).toEqual(['user: hi', 'agent: Help is here']);
});

test('an answer that was complete when the stream broke is told to the model, which goes on from there', async () => {
  const server = await afterAttempts(
    [...whole('m1', 'Hello'), again],
    [...whole('m2', 'world'), done],
  );
  await server.client.turn(idOf(1), 'two');
  expect(appendedTexts(server)).toEqual(['Hello', 'world', 'next']);
  expect(await stored(server)).toEqual(['user: hi', 'agent: Hello', 'agent: world']);
  expect(conversation(server.model.request(2))).toEqual([asked('hi'), said('Hello')]);
  expect(conversation(server.model.request(3))).toEqual([
    asked('hi'),
    said('Hello'),
    said('world'),
    asked('two'),
  ]);
});

test('whatever the attempts are, clients see each message once, whole, and as it is stored', {
  tags: 'seeded',
}, async () => {
  const words = fc
    .array(fc.constantFrom('a', 'b', 'ab'), { minLength: 1, maxLength: 4 })
    .map((parts) => parts.join(''));
  const attempt = fc.record({
    texts: fc.array(words, { maxLength: 2 }),
    cut: fc.nat(4),
    chars: fc.integer({ min: 1, max: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(attempt, { minLength: 1, maxLength: 4 }),
      words,
      async (attempts, last) => {
        const streams: ModelEvent[][] = [[]];
        for (const [number, { texts, cut, chars }] of attempts.entries()) {
          streams
            .at(-1)
            ?.push(...texts.flatMap((text, index) => whole(`m${number}-${index}`, text, chars)));
          streams.at(-1)?.push(...begun(`m${number}`, last.slice(0, cut)), again);
          // The model sends the same request again if nothing was complete.
          if (texts.length > 0) streams.push([]);
        }
        streams.at(-1)?.push(...whole('last', last), done);
        const server = await afterAttempts(...streams);
        const completed = server.client
          .notifications('item/completed')
          .flatMap(({ item }) => (item.type === 'agentMessage' ? [item] : []));
        expect(new Set(completed.map(({ id }) => id)).size).toBe(completed.length);
        expect(await stored(server)).toEqual([
          'user: hi',
          ...completed.map(({ text }) => `agent: ${text}`),
        ]);
        expect(completed.at(-1)?.text === last || completed.some(({ text }) => text === last)).toBe(
          true,
        );
        // A message that was begun and not completed is the start of a completed one, or starts
        // with one.
        for (const text of appendedTexts(server))
          expect(
            completed.some((item) => item.text.startsWith(text) || text.startsWith(item.text)),
          ).toBe(true);
        await server.close();
      },
    ),
    { numRuns: runs(60) },
  );
});
