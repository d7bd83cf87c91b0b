import { expect, test, vi } from 'vitest';
import { keyRanges } from '../../src/config/toml/key-ranges.ts';

const TEXT = `# model = "in a comment"
model = "a" # sandbox_mode
text = """
model_provider = "in a string"
\\""" [features]
"""
literal = '''
[projects]'''
list = [ 1, "]", { model_verbosity = "x" }, # notify = 1
  [2] ]
features.goals = true
"quoted key" = { inner = 'a"b', deeper.key = 2 }
date = 1979-05-27 07:32:00

[ mcp_servers . "my.server" ]
command = "x"
[mcp_servers.'my.server'.env]
A = "1"
[[skills.config]]
name = "a"
[[skills.config]]
name = "b"
[profiles.work.features]
goals = false
`;

/** The text that a range covers. */
function covered(path: readonly string[]): string | null {
  const range = keyRanges(TEXT)(path);
  if (range === null) return null;
  const line = TEXT.split('\n')[range.start.line - 1] ?? '';
  return `${range.start.line}: ${line.slice(range.start.column - 1, range.end.column - 1)}`;
}

test.each<[path: string[], covered: string | null]>([
  [['model'], '2: model'],
  [['sandbox_mode'], null],
  [['model_provider'], null],
  [['model_verbosity'], null],
  [['projects'], null],
  [['notify'], null],
  [['text'], '3: text'],
  [['literal'], '7: literal'],
  [['list'], '9: list'],
  [['list', '2', 'model_verbosity'], '9: list'],
  [['features', 'goals'], '11: goals'],
  [['features'], '11: features'],
  [['features', 'unknown'], '11: features'],
  [['quoted key', 'inner'], '12: inner'],
  [['quoted key', 'deeper', 'key'], '12: key'],
  [['quoted key', 'nothing'], '12: quoted key'],
  [['date'], '13: date'],
  [['mcp_servers', 'my.server'], '15: my.server'],
  [['mcp_servers', 'my.server', 'command'], '16: command'],
  [['mcp_servers', 'my.server', 'env', 'A'], '18: A'],
  [['skills', 'config'], '19: config'],
  [['profiles', 'work', 'features', 'goals'], '24: goals'],
])('%j is at %j', (path, expected) => expect(covered(path)).toBe(expected));

test('a text that is not valid ends the search', () => {
  expect(keyRanges('a = 1\n= 2\nb = 3')(['a'])).toEqual({
    start: { line: 1, column: 1 },
    end: { line: 1, column: 2 },
  });
  expect(keyRanges('a = """ open')(['b'])).toBeNull();
  expect(keyRanges('a = [ { ')(['b'])).toBeNull();
});

test('keys of a long last line are found without going through it for each', () => {
  const keys = 20_000;
  const text = `model = "a"\nx = { ${Array.from({ length: keys }, (_, index) => `k${index} = 1`).join(', ')} }`;
  const scans = vi.spyOn(String.prototype, 'indexOf');
  const rangeOf = keyRanges(text);
  const long = scans.mock.contexts.filter(
    (scanned) => String(scanned).length === text.length,
  ).length;
  scans.mockRestore();
  expect(long).toBeLessThan(10);
  expect(rangeOf(['x', 'k1'])?.start).toEqual({ line: 2, column: 15 });
});
