import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EventLoopYield } from '../../src/base/event-loop-yield.ts';
import type { JsonObject, JsonValue } from '../../src/base/json-value.ts';
import { requestLayer } from '../../src/config/layers/request-layer.ts';
import { NO_LOCATION } from '../../src/config/toml/config-error.ts';
import {
  emptyTable,
  mergeTables,
  putAt,
  tableWith,
  toTable,
} from '../../src/config/toml/config-table.ts';

const key = fc.constantFrom('a', 'b', '__proto__');
const path = fc.array(key, { minLength: 1, maxLength: 4 });
const value = fc.oneof(
  fc.integer(),
  fc.dictionary(key, fc.oneof(fc.integer(), fc.dictionary(key, fc.integer()))),
);

/** A copy as `toTable` makes it. */
function owned(given: unknown): JsonValue {
  return toTable({ given }, NO_LOCATION).given as JsonValue;
}

test('putting values into a table has the same result as merging a table of each', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(path, value)), (entries) => {
      const table = emptyTable();
      for (const [at, put] of entries) putAt(table, at, owned(put));
      const merged = entries
        .map(([at, put]) => tableWith(at, owned(put)))
        .reduce(mergeTables, emptyTable());
      expect(JSON.stringify(table)).toBe(JSON.stringify(merged));
    }),
  );
});

test('a config of a request has at most 10,000 keys, in whatever tables and lists', async () => {
  const keys = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, index]));
  const read = (config: JsonObject) => requestLayer(config, new EventLoopYield());
  expect(Object.keys((await read(keys(10_000))).config)).toHaveLength(10_000);
  for (const config of [
    keys(10_001),
    { a: keys(10_000) },
    { a: [keys(5_000), { b: keys(5_000) }] },
  ])
    await expect(read(config)).rejects.toThrow("the request's config has more than 10000 keys");
});
