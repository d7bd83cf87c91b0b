import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EventLoopYield } from '../../src/base/event-loop-yield.ts';
import { BegunBodies } from '../../src/model/http/begun-bodies.ts';
import { ItemTexts } from '../../src/model/http/item-texts.ts';
import type { BegunBody } from '../../src/model/http/provider-api.ts';
import type { ModelRequest } from '../../src/model/model.ts';
import { beginBody, requestBody } from '../../src/model/responses/request-body.ts';
import type { ResponseItem } from '../../src/protocol/generated/types.ts';
import { request } from './provider-server.ts';

const tools = () => ({ pace: new EventLoopYield(), texts: new ItemTexts() });
const search = {
  type: 'tool_search',
  name: 'tool_search',
  description: '',
  parameters: {},
} as const;

const item = fc.oneof(
  fc.record({
    type: fc.constant('message' as const),
    role: fc.constantFrom('user', 'developer', 'assistant'),
    content: fc.array(
      fc.record({ type: fc.constant('input_text' as const), text: fc.string({ maxLength: 9 }) }),
    ),
  }),
  // Raw reasoning is sent in its turn only, and its encrypted form in one of three ways.
  fc.record({
    type: fc.constant('reasoning' as const),
    id: fc.string(),
    summary: fc.constant([]),
    content: fc.constant([{ type: 'reasoning_text' as const, text: 'hm' }]),
    encrypted_content: fc.constantFrom(null, 'x'),
  }),
  fc.record({
    type: fc.constant('tool_search_call' as const),
    call_id: fc.string(),
    execution: fc.constant('client'),
    arguments: fc.constant({ query: 'q' }),
  }),
  fc.record({
    type: fc.constant('function_call_output' as const),
    call_id: fc.string(),
    output: fc.string({ size: 'large' }),
  }),
  fc.constant({ type: 'other' as const }),
) as fc.Arbitrary<ResponseItem>;

test('a body that was begun with a part of the input, or another input, is that of the request', async () => {
  const given = fc.record({
    before: fc.array(item),
    since: fc.array(item),
    other: fc.option(fc.nat(9)),
    searches: fc.boolean(),
    settings: fc.record({
      reasoning: fc.constantFrom('full' as const, 'asked' as const, 'none' as const),
      leftOut: fc
        .subarray(['tool_choice', 'input.reasoning', 'input.reasoning, without ids'])
        .map((names) => new Set(names)),
    }),
  });
  await fc.assert(
    fc.asyncProperty(given, async ({ before, since, other, searches, settings }) => {
      const first = { ...request, input: before, tools: searches ? [search] : [] };
      const input = [...before, ...since];
      if (other !== null && other < input.length)
        input[other] = { ...(input[other] as object) } as ResponseItem;
      const next = { ...first, input };
      const shared = tools();
      const begun = await beginBody(first, settings, shared);
      const body = await requestBody(next, settings, shared, begun);
      expect(`${body}`).toBe(`${await requestBody(next, settings, tools())}`);
      expect(JSON.parse(`${body}`)).toMatchObject({ model: 'm' });
    }),
  );
});

const settings = { reasoning: 'full' as const, leftOut: [] };
const body: BegunBody = { body: null as never, sent: [] };

const turnOver = () => new AbortController().signal;

/** Whether the body that was begun for a request is used for another one. */
async function isTaken(
  next: Partial<ModelRequest>,
  accepted: Parameters<BegunBodies['take']>[1] = settings,
): Promise<boolean> {
  const bodies = new BegunBodies();
  const tool = { ...search };
  const first = { ...request, tools: [tool], clientMetadata: { turn_id: '1' } };
  bodies.add({ request: first, settings, body: Promise.resolve(body) }, turnOver());
  return (await bodies.take({ ...first, ...next }, accepted)) === body;
}

test('a body that was begun is used if only the input differs', async () => {
  expect(await isTaken({ input: [] })).toBe(true);
  const changes: Partial<ModelRequest>[] = [
    { model: 'other' },
    { instructions: 'be long' },
    { tools: [] },
    { tools: [{ ...search }] },
    { effort: 'high' },
    { summary: 'auto' },
    { outputSchema: {} },
    { schemaIsOptional: true },
    { serviceTier: 'fast' },
    { verbosity: 'low' },
    { webSearch: { mode: 'live', contextSize: null, allowedDomains: [], location: null } },
    { promptCacheKey: 'thread-2' },
    { clientMetadata: { turn_id: '2' } },
    { headers: { originator: 'x' } },
    { retries: { ofRequest: 1, ofStream: 0, nextWaitMs: 1, retryingMs: 1 } },
  ];
  for (const change of changes) expect([change, await isTaken(change)]).toEqual([change, false]);
  expect(await isTaken({}, { ...settings, reasoning: 'none' })).toBe(false);
});

test('a body is used once, the last of a thread counts, and those of eight threads are kept', async () => {
  const bodies = new BegunBodies();
  const of = (thread: number) => ({ ...request, promptCacheKey: `thread-${thread}` });
  const begin = (thread: number, sent: ResponseItem[]) =>
    bodies.add(
      { request: of(thread), settings, body: Promise.resolve({ ...body, sent }) },
      turnOver(),
    );
  const sent = async (thread: number) => (await bodies.take(of(thread), settings))?.sent.length;
  begin(0, []);
  begin(0, [...request.input]);
  expect([await sent(0), await sent(0)]).toEqual([1, undefined]);
  for (let thread = 1; thread <= 9; thread++) begin(thread, []);
  expect([await sent(1), await sent(2), await sent(9)]).toEqual([undefined, 0, 0]);
});

test('a body that could not be begun is not used', async () => {
  const bodies = new BegunBodies();
  bodies.add({ request, settings, body: Promise.reject(new Error('no memory')) }, turnOver());
  expect(await bodies.take(request, settings)).toBe(null);
});

test('another request with the cache key of the thread leaves its body', async () => {
  const bodies = new BegunBodies();
  bodies.add({ request, settings, body: Promise.resolve(body) }, turnOver());
  expect(bodies.take({ ...request, instructions: 'summarize' }, settings)).toBe(null);
  expect(await bodies.take(request, settings)).toBe(body);
});

test('the end of the turn releases its body, and not that of the next turn', async () => {
  const bodies = new BegunBodies();
  const turns = [new AbortController(), new AbortController()] as const;
  const of = (turn: number) => ({ ...request, clientMetadata: { turn_id: `${turn}` } });
  for (const [turn, { signal }] of turns.entries())
    bodies.add({ request: of(turn), settings, body: Promise.resolve(body) }, signal);
  turns[0].abort();
  expect(await bodies.take(of(1), settings)).toBe(body);
  bodies.add({ request, settings, body: Promise.resolve(body) }, turns[1].signal);
  turns[1].abort();
  expect(bodies.take(request, settings)).toBe(null);
  bodies.add({ request, settings, body: Promise.resolve(body) }, turns[1].signal);
  expect(bodies.take(request, settings)).toBe(null);
});
