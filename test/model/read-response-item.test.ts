import fc from 'fast-check';
import { expect, test } from 'vitest';
import { asAccepted, bundleDefinitions } from '../../schema/bundle.ts';
import { readResponseItem } from '../../src/model/responses/read-response-item.ts';
import { schemaArbitrary } from '../support/schema-arbitrary.ts';

const definitions = asAccepted(bundleDefinitions('schema'));
const item = schemaArbitrary(
  { $ref: '#/definitions/ResponseItem' },
  { definitions },
) as fc.Arbitrary<Record<string, unknown>>;

test('an item that a client may hand in can be read from a provider too', () => {
  const property = fc.property(item, (value) => {
    expect(readResponseItem({ ...value, id: value.id ?? 'i' })?.problem).toBeNull();
  });
  fc.assert(property, { numRuns: 500 });
});

test.each<[string, Record<string, unknown>]>([
  ['a type of item', { type: 'brand_new', call_id: 7 }],
  [
    'a field',
    { type: 'function_call', call_id: 'c', name: 'n', arguments: '', status: { state: 'new' } },
  ],
  ['a phase', { type: 'message', role: 'assistant', content: [], phase: 'thinking_aloud' }],
  [
    'a part of a message',
    { type: 'message', role: 'assistant', content: [{ type: 'output_hologram', url: 7 }] },
  ],
  [
    'a part of reasoning',
    {
      type: 'reasoning',
      summary: [{ type: 'summary_graph' }],
      content: [{ type: 'raw', text: null }],
    },
  ],
  ['a search', { type: 'web_search_call', action: { type: 'think_hard', query: 7 } }],
  ['an action', { type: 'local_shell_call', status: 'paused', action: { commands: [] } }],
])('%s that is newer than this version is kept', (_, value) => {
  expect(readResponseItem(value)).toEqual({ item: value, problem: null });
});
