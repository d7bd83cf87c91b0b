import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ModelEvent } from '../../src/model/model.ts';
import { counts, data, delta, finish } from './chat-stream.ts';
import { collect, modelAt, never, ProviderServer, type Reply, request } from './provider-server.ts';

const anything = fc.jsonValue({ maxDepth: 2 });
const texts = fc.constantFrom('', 'x', '{"a":', '1}', '{}');
const fragment = fc.record(
  {
    index: fc.oneof(fc.constantFrom(0, 1), anything),
    id: fc.oneof(fc.constantFrom('a', 'b', ''), anything),
    function: fc.oneof(
      fc.record(
        {
          name: fc.oneof(fc.constantFrom('f', 'g'), anything),
          arguments: fc.oneof(texts, anything),
        },
        { requiredKeys: [] },
      ),
      anything,
    ),
  },
  { requiredKeys: [] },
);
const change = fc.record(
  {
    content: fc.oneof(texts, anything),
    reasoning_content: fc.oneof(texts, anything),
    reasoning: anything,
    refusal: fc.oneof(fc.constant(null), anything),
    tool_calls: fc.oneof(fc.array(fragment, { maxLength: 3 }), anything),
    function_call: anything,
  },
  { requiredKeys: [] },
);
const sound = fc.oneof(
  texts.map((content) => delta({ content })),
  texts.map((reasoning) => delta({ reasoning })),
  fc
    .record({
      index: fc.constantFrom(0, 1),
      id: fc.constantFrom('a', 'b'),
      function: fc.record({ name: fc.constantFrom('f', 'g'), arguments: texts }),
    })
    .map((call) => delta({ tool_calls: [call] })),
  fc.constantFrom('stop', 'tool_calls', 'length').map(finish),
  fc.constant(counts({ prompt_tokens: 1, completion_tokens: 1 })),
);
const odd = fc.oneof(
  change.map((each) => delta(each)),
  fc.record({ choices: anything, usage: anything, error: anything }, { requiredKeys: [] }),
);
const wire = fc
  .array(
    fc.oneof(
      { weight: 9, arbitrary: sound.map(data) },
      { weight: 3, arbitrary: odd.map(data) },
      { weight: 1, arbitrary: fc.string() },
      { weight: 1, arbitrary: fc.constant('data: [DONE]\n\n') },
    ),
  )
  .map((parts) => parts.join(''));

test('whatever a chat provider streams, items begin before they grow, end once, and one event ends all', async () => {
  let text = '';
  const reply: Reply = (res) =>
    res.writeHead(200, { 'content-type': 'text/event-stream' }).end(text);
  await using server = await ProviderServer.start(reply);
  const { model } = modelAt(server.port, { wireApi: 'chat' });
  await fc.assert(
    fc.asyncProperty(wire, async (stream) => {
      text = stream;
      const events = await collect(model.stream(request, never));
      expect(events[0]).toEqual({ type: 'started' });
      expect(events.filter(({ type }) => type === 'completed' || type === 'failed')).toEqual([
        events.at(-1),
      ]);
      checkItems(events);
    }),
    { numRuns: 400 },
  );
});

function checkItems(events: ModelEvent[]): void {
  const open = new Set<unknown>();
  const callIds: string[] = [];
  for (const event of events) {
    if (event.type === 'itemStarted') open.add(event.item.id);
    if ('itemId' in event) expect(open.has(event.itemId)).toBe(true);
    if (event.type !== 'itemCompleted') continue;
    if (event.item.type === 'function_call') callIds.push(event.item.call_id);
    else expect(open.delete('id' in event.item && event.item.id)).toBe(true);
  }
  expect(callIds).toEqual([...new Set(callIds)]);
  if (events.at(-1)?.type === 'completed') expect([...open]).toEqual([]);
}
