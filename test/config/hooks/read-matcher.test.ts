import { expect, test } from 'vitest';
import { misspeltTool, readMatcher } from '../../../src/config/hooks/read-matcher.ts';

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

test.each([
  ['bash', 'no tool of heddle has the name "bash": did you mean "Bash"?'],
  ['Edit|write', 'no tool of heddle has the name "write": did you mean "Write"?'],
  ['Apply_Patch', 'no tool of heddle has the name "Apply_Patch": did you mean "apply_patch"?'],
  ['exec_command', 'no tool of heddle has the name "exec_command": did you mean "Bash"?'],
  ['Bash|Edit, Write|apply_patch', null],
  ['Read|my_tool', null],
  ['(?i)bash', null],
  ['', null],
  [null, null],
])('the matcher %j is misspelt: %j', (matcher, advice) => {
  expect(misspeltTool(matcher)).toBe(advice);
});
