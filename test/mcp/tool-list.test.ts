import { expect, test } from 'vitest';
import { toolList } from '../../src/mcp/host/tool-list.ts';

test('long descriptions and titles are cut, and clients get the tool as it is', () => {
  const long = 'x'.repeat(100_000);
  const inputSchema = { type: 'object' as const };
  const given = [
    { name: 'a', title: long, description: long, inputSchema },
    { name: 'b', inputSchema, annotations: { title: long, readOnlyHint: true } },
  ];
  const [a, b] = toolList(given).tools;
  expect([a?.title?.length, a?.description?.length, b?.title?.length]).toEqual([
    1_000, 10_000, 1_000,
  ]);
  expect(b?.annotations).toEqual({ title: 'x'.repeat(1_000), readOnlyHint: true });
  expect([a?.raw, b?.raw]).toEqual(given);
});
