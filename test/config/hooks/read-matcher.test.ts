import { expect, test } from 'vitest';
import { readMatcher } from '../../../src/config/hooks/read-matcher.ts';

test.each([
  [null, 'Bash', true],
  ['', 'Bash', true],
  ['*', 'Bash', true],
  ['Bash', 'Bash', true],
  ['ash', 'Bash', false],
  ['bash', 'Bash', false],
  ['Edit|Bash', 'Bash', true],
  ['Edit | Bash', 'Bash', true],
  ['B.sh', 'Bash', true],
  ['^Bas$', 'Bash', false],
  ['.as', 'Bash', true],
  ['mcp__files__.*', 'mcp__files__read', true],
  ['mcp__files', 'mcp__files__read', false],
  ['Edit, Bash', 'Bash', true],
  // Expressions of other engines.
  ['(?i)^bash$', 'Bash', true],
  ['mcp__my\\-files__.*', 'mcp__my-files__read', true],
  ['a[+\\-]b\\.\\\\', 'a-b.\\', true],
])('the matcher %j and the name %s: %s', (matcher, name, expected) => {
  const matches = readMatcher(matcher);
  expect(typeof matches === 'function' && matches(['other', name])).toBe(expected);
});

test('an expression that is not valid has a problem', () => {
  expect(readMatcher('\\Abash')).toEqual({ problem: expect.stringContaining('Invalid') });
  expect(readMatcher('(')).toEqual({
    problem: expect.stringContaining('Invalid regular expression'),
  });
});
