import { expect, test } from 'vitest';
import { fieldLines, fieldPrompt, readField } from '../../../src/cli/exec/asking/read-field.ts';
import type { McpElicitationPrimitiveSchema } from '../../../src/protocol/generated/types.ts';

const COLORS = {
  type: 'string',
  oneOf: [
    { const: 'r', title: 'Red' },
    { const: 'g', title: 'Green' },
  ],
} as const;
const NAMED = { type: 'string', enum: ['a', 'b'], enumNames: ['First'] } as const;
const TAGS = {
  type: 'array',
  items: {
    anyOf: [
      { const: 'x', title: 'X' },
      { const: 'y', title: 'Y' },
    ],
  },
  minItems: 1,
  maxItems: 1,
} as const;

test.each<[McpElicitationPrimitiveSchema, string, unknown]>([
  [{ type: 'string' }, ' hi ', { value: 'hi' }],
  [{ type: 'string', minLength: 3 }, 'ab', { problem: 'expected at least 3 characters' }],
  [{ type: 'string', maxLength: 1 }, 'é\u{1f469}', { problem: 'expected at most 1 characters' }],
  [{ type: 'number' }, '1.5', { value: 1.5 }],
  [{ type: 'number' }, 'x', { problem: 'expected a number' }],
  [{ type: 'number', maximum: 3 }, '4', { problem: 'expected at most 3' }],
  [{ type: 'integer' }, '1.5', { problem: 'expected a whole number' }],
  [{ type: 'integer', minimum: 2 }, '1', { problem: 'expected at least 2' }],
  [{ type: 'boolean' }, 'Y', { value: true }],
  [{ type: 'boolean' }, 'no', { value: false }],
  [{ type: 'boolean' }, 'maybe', { problem: 'expected y or n' }],
  [COLORS, '2', { value: 'g' }],
  [COLORS, 'Red', { value: 'r' }],
  [COLORS, '3', { problem: 'expected a number from 1 to 2' }],
  [NAMED, '1', { value: 'a' }],
  [NAMED, 'b', { value: 'b' }],
  [TAGS, '2', { value: ['y'] }],
  [TAGS, '1, 2', { problem: 'expected at most 1' }],
  [TAGS, '1, 9', { problem: 'expected a number from 1 to 2' }],
] as [McpElicitationPrimitiveSchema, string, unknown][])(
  '%j takes %j as %j',
  (field, typed, answer) => {
    expect(readField(field, typed, true)).toEqual(answer);
  },
);

test('an empty line is the default, none, or not enough', () => {
  expect(readField({ type: 'boolean', default: false }, '', true)).toEqual({ value: false });
  expect(readField({ type: 'string' }, ' ', false)).toEqual({ value: null });
  expect(readField({ type: 'string' }, '', true)).toEqual({ problem: 'an answer is required' });
});

test('a field is shown harmless, with its options', () => {
  expect(
    fieldLines('c', {
      ...NAMED,
      title: 'A\x1b[2K',
      description: 'why',
    } as McpElicitationPrimitiveSchema),
  ).toEqual(['A\\x1b[2K', '  why', '  1  First', '  2  b']);
  expect(fieldPrompt({ type: 'integer', default: 3 }, true)).toBe('a whole number (Enter: 3): ');
  expect(fieldPrompt(TAGS as unknown as McpElicitationPrimitiveSchema, false)).toBe(
    'numbers with commas (Enter: none): ',
  );
});
