import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/base/json-value.ts';
import { offeredSchema } from '../../src/model/offered-schema.ts';

const text = { type: 'string' };
const number = { type: 'number' };
const kind = (name: string) => ({ const: name });

describe('the parts of a schema', () => {
  test.each<[string, JsonObject, JsonObject]>([
    [
      'alternatives that are references',
      {
        anyOf: [{ $ref: '#/$defs/A' }, { $ref: '#/$defs/B' }],
        $defs: { A: { properties: { a: text } }, B: { properties: { b: text } } },
      },
      { a: text, b: text },
    ],
    [
      'a reference to a reference',
      {
        $ref: '#/definitions/A',
        definitions: { A: { $ref: '#/definitions/B' }, B: { properties: { b: text } } },
      },
      { b: text },
    ],
    [
      'parts with parts',
      {
        properties: { own: text },
        oneOf: [{ allOf: [{ properties: { a: text } }, { anyOf: [{ properties: { b: text } }] }] }],
      },
      { own: text, a: text, b: text },
    ],
    [
      'alternatives that one property tells apart',
      {
        oneOf: [
          { properties: { kind: kind('create'), a: text } },
          { properties: { kind: kind('delete'), a: text, id: number } },
        ],
      },
      { kind: { anyOf: [kind('create'), kind('delete')] }, a: text, id: number },
    ],
    [
      'a reference to itself',
      { properties: { a: text }, anyOf: [{ $ref: '#' }, { $ref: '#/anyOf/0' }] },
      { a: text },
    ],
    [
      'names of objects',
      JSON.parse('{"allOf": [{"properties": {"__proto__": {"type": "string"}}}]}'),
      JSON.parse('{"__proto__": {"type": "string"}}'),
    ],
    [
      'parts that are no schemas',
      { anyOf: [null, 5, true, { properties: 5 }], properties: { a: true } },
      { a: true },
    ],
  ])('%s', (_, given, properties) => {
    const offered = offeredSchema({ type: 'object', ...given });
    const { $defs, definitions } = given;
    expect(offered).toEqual({
      type: 'object',
      properties,
      ...($defs && { $defs }),
      ...(definitions && { definitions }),
    });
    expect(Object.keys((offered as { properties: object }).properties)).toEqual(
      Object.keys(properties),
    );
  });

  test('that name each other many times take no time', () => {
    const part = (next: number) => ({
      anyOf: [{ $ref: `#/$defs/${next}` }, { oneOf: [{ $ref: `#/$defs/${next}` }] }],
      properties: { [`p${next}`]: text },
    });
    const $defs = Object.fromEntries(
      Array.from({ length: 500 }, (_, index) => [index, part((index + 1) % 500)]),
    );
    expect(
      Object.keys(
        (offeredSchema({ $ref: '#/$defs/0', $defs }) as { properties: object }).properties,
      ),
    ).toHaveLength(500);
  });
});

test.each<[string, JsonObject, string]>([
  [
    'an anchor',
    { properties: { a: { $ref: '#here' } } },
    'refers to "#here", which it does not have',
  ],
  [
    'a top that refers to nothing',
    { $ref: '#/$defs/None' },
    'refers to "#/$defs/None", which it does not have',
  ],
  [
    'a part that is not offered',
    { anyOf: [{ properties: { a: text } }], properties: { b: { $ref: '#/anyOf/0/properties/a' } } },
    'refers to "#/anyOf/0/properties/a", which it does not have',
  ],
  ['a property without a schema', { properties: { a: null } }, 'its property "a" has no schema'],
  [
    'a property of a part without a schema',
    { anyOf: [{ properties: { b: 'string' } }] },
    'its property "b" has no schema',
  ],
])('refused: %s', (_, given, reason) => {
  expect(offeredSchema(given)).toMatch(reason);
});
