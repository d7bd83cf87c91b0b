import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  collect,
  modelAt,
  never,
  ProviderServer,
  type Reply,
  request,
  sse,
} from './provider-server.ts';

const type = fc.constantFrom(
  'response.output_item.added',
  'response.output_item.done',
  'response.output_text.delta',
  'response.reasoning_summary_part.added',
  'response.reasoning_summary_text.delta',
  'response.reasoning_text.delta',
  'response.completed',
  'response.failed',
  'response.incomplete',
  'error',
);
const itemType = fc.constantFrom(
  'message',
  'reasoning',
  'function_call',
  'custom_tool_call',
  'web_search_call',
  'local_shell_call',
  '__proto__',
);
const anything = fc.jsonValue({ maxDepth: 2 });
const part = fc.record(
  { type: fc.constantFrom('output_text', 'refusal', 'summary_text'), text: anything },
  { requiredKeys: [] },
);
const item = fc.record(
  {
    type: itemType,
    id: anything,
    role: anything,
    content: fc.oneof(anything, fc.array(part)),
    summary: anything,
  },
  { requiredKeys: [] },
);
const event = fc.record(
  {
    type,
    item: fc.oneof(item, anything),
    item_id: fc.oneof(fc.constant('a'), anything),
    output_index: anything,
    summary_index: anything,
    delta: fc.oneof(fc.string(), anything),
    response: fc.oneof(
      fc.record(
        { usage: anything, error: anything, incomplete_details: anything },
        { requiredKeys: [] },
      ),
      anything,
    ),
    error: anything,
  },
  { requiredKeys: ['type'] },
);
const wire = fc
  .array(fc.oneof({ weight: 9, arbitrary: event.map(sse) }, { weight: 1, arbitrary: fc.string() }))
  .map((parts) => parts.join(''));

test('whatever a provider streams, the events end with one that ends them', async () => {
  let text = '';
  const reply: Reply = (res) =>
    res.writeHead(200, { 'content-type': 'text/event-stream' }).end(text);
  await using server = await ProviderServer.start(reply);
  const { model } = modelAt(server.port);
  await fc.assert(
    fc.asyncProperty(wire, async (stream) => {
      text = stream;
      const types = (await collect(model.stream(request, never))).map((each) => each.type);
      expect(types[0]).toBe('started');
      expect(types.filter((each) => each === 'completed' || each === 'failed')).toEqual([
        types.at(-1),
      ]);
    }),
    { numRuns: 300 },
  );
});
