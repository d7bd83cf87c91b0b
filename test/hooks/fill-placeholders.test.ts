import { expect, test } from 'vitest';
import { fillPlaceholders } from '../../src/hooks/fill-placeholders.ts';
import { placeholder } from './placeholder.ts';

const EVENT = {
  tool_name: 'Bash',
  turn_id: null,
  tool_input: { 'file-path': 'a.txt', list: ['one', { two: 2 }] },
};

test.each([
  [placeholder('tool_name'), 'Bash'],
  [`in ${placeholder('tool_input.file-path')}!`, 'in a.txt!'],
  [placeholder('turn_id'), 'null'],
  [placeholder('tool_input.list.1'), '{"two":2}'],
])('%s becomes %s', (text, filled) => {
  expect(fillPlaceholders({ text, list: [{ text }], number: 1 }, EVENT)).toEqual({
    input: { text: filled, list: [{ text: filled }], number: 1 },
  });
});

test('fields that the event does not have are named, also those that every object inherits', () => {
  const input = {
    a: placeholder('constructor'),
    b: [placeholder('tool_input.absent'), placeholder('tool_name.length')],
  };
  expect(fillPlaceholders(input, EVENT)).toEqual({
    missing: ['constructor', 'tool_input.absent', 'tool_name.length'],
  });
});
