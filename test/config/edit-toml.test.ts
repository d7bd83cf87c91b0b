import fc from 'fast-check';
import { parse } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import { editToml } from '../../src/config/writing/edit-toml.ts';
import type { TomlEdit } from '../../src/config/writing/toml-edit.ts';

const set = (path: string, value: unknown): TomlEdit => ({
  path: path.split('.'),
  value,
  mergeStrategy: 'replace',
});
const textOf = (edited: ReturnType<typeof editToml>) =>
  'text' in edited ? edited.text : edited.problem;

const FILE = `# head

a = 1 # one
f = 1.0
d = 2020-01-02
x = 0xff
list = [
  1, # first
  2
]

[t]   # table
k = 'v'
t.u = { v = 1 } # inline

[[array]]
z = 1
`;

describe('editToml', () => {
  test('keeps comments, notation and order', () => {
    expect(textOf(editToml(FILE, [set('a', 2), set('t.new', true)]))).toBe(
      FILE.replace('a = 1', 'a = 2').replace('# inline\n', '# inline\nnew = true\n'),
    );
  });

  test('returns the same text if nothing changes', () => {
    expect(textOf(editToml(FILE, [set('a', 1), set('f', 1), set('no.such', null)]))).toBe(FILE);
  });

  test('keeps the ends of lines', () => {
    const text = 'a = 1\r\n\r\n[t]\r\nb = 2\r\n';
    expect(textOf(editToml(text, [set('t.c', 3)]))).toBe(`${text}c = 3\r\n`);
  });

  test('writes a table in sections', () => {
    const table = { name: 'n', aws: { region: 'r' } };
    expect(textOf(editToml('a = 1\n', [set('p.x', table)]))).toBe(
      'a = 1\n\n[p]\n\n[p.x]\nname = "n"\n\n[p.x.aws]\nregion = "r"\n',
    );
  });

  test('any edits of any file result in exactly the edited settings, or in a problem', () => {
    const key = fc.constantFrom(
      'a',
      'f',
      'list',
      't',
      'k',
      'u',
      'v',
      'array',
      'new',
      'has space',
      'with.dot',
      'ü',
    );
    const leaf = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(1.5));
    const value = fc.oneof(
      { weight: 3, arbitrary: leaf },
      fc.array(leaf, { maxLength: 3 }),
      fc.dictionary(key, leaf, { maxKeys: 3, noNullPrototype: true }),
      fc.array(fc.dictionary(key, leaf, { maxKeys: 2, noNullPrototype: true }), { maxLength: 2 }),
      fc.constant(null),
    );
    const edit: fc.Arbitrary<TomlEdit> = fc.record({
      path: fc.array(key, { minLength: 1, maxLength: 3 }),
      value,
      mergeStrategy: fc.constantFrom('replace', 'upsert'),
    });
    fc.assert(
      fc.property(
        fc.constantFrom(FILE, '', '# only\n', 'a.b = 1\na.c = 2\n[t.k]\nv = 1\n'),
        fc.array(edit, { maxLength: 4 }),
        (text, edits) => {
          const edited = editToml(text, edits);
          if ('problem' in edited) expect(edited.problem).toMatch(/is not a table/);
          else {
            expect(() => parse(edited.text)).not.toThrow();
            for (const comment of ['# head', '# only'])
              expect(edited.text.includes(comment)).toBe(text.includes(comment));
          }
        },
      ),
      { seed: 7, numRuns: 400 },
    );
  });
});
