import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { appendLine } from '../../../src/config/trust/append-line.ts';
import { parseTrustRecord, type TrustLine } from '../../../src/config/trust/trust-record.ts';
import { tempFolder } from '../temp-folder.ts';

const name = fc.constantFrom('/a', '/b', '__proto__', '/a b\n"\u2028');
const files = fc.dictionary(
  fc.constantFrom('x', 'y/z', '__proto__'),
  fc.constantFrom('sha256:1', 'sha256:2'),
);
const line: fc.Arbitrary<TrustLine> = fc.oneof(
  fc.record({ folder: name, files }),
  fc.record({ folder: name, files, first: fc.constant(true as const) }),
);

/** A second implementation of the record: computes the hash of each file on its own. */
function trustedHash(
  lines: readonly TrustLine[],
  folder: string,
  path: string,
): string | undefined {
  const own = lines.filter((one) => one.folder === folder);
  const counting = own.filter((one, index) => one.first !== true || index === 0);
  const last = counting.findLast((one) => Object.hasOwn(one.files, path));
  return last?.files[path];
}

test('a later line replaces an earlier one; a first sight counts only as the first line of its folder', () => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
      const record = parseTrustRecord(lines.map((one) => JSON.stringify(one)).join('\n'));
      if ('invalidLine' in record) throw new Error('a valid line is refused');
      expect([...record.keys()].sort()).toEqual(
        [...new Set(lines.map(({ folder }) => folder))].sort(),
      );
      for (const folder of record.keys()) {
        for (const path of ['x', 'y/z', '__proto__'])
          expect(record.get(folder)?.files.get(path)).toBe(trustedHash(lines, folder, path));
      }
    }),
    { seed: 7 },
  );
});

test('any text is either a record or has an invalid line', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(
          fc.json(),
          fc.string(),
          line.map((one) => JSON.stringify(one)),
        ),
      ),
      (lines) => {
        const record = parseTrustRecord(lines.join('\n'));
        expect('invalidLine' in record ? record.invalidLine > 0 : record.size >= 0).toBe(true);
      },
    ),
    { seed: 7 },
  );
});

test('lines that several processes append at the same time are all kept, and none is mixed with another', () => {
  const file = join(tempFolder(), 'record');
  const append = new URL('../../../src/config/trust/append-line.ts', import.meta.url);
  const script = `import { appendLine } from ${JSON.stringify(append.href)};
    for (let n = 0; n < 100; n++) appendLine(process.argv[1], process.argv[2].repeat(300), 1e9);`;
  const run = ['a', 'b', 'c']
    .map((word) => `"$0" --import tsx --input-type=module -e "$1" "$2" ${word} &`)
    .join(' ');
  const { status, stderr } = spawnSync(
    'sh',
    ['-c', `${run} wait`, process.execPath, script, file],
    { encoding: 'utf8', timeout: 60_000 },
  );
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter((text) => text !== '');
  expect(lines).toHaveLength(300);
  expect(new Set(lines)).toEqual(new Set(['a', 'b', 'c'].map((word) => word.repeat(300))));
});

test('a line after an incomplete one begins a line of its own', () => {
  const file = join(tempFolder({ record: 'half' }), 'record');
  appendLine(file, 'whole', 1e9);
  expect(readFileSync(file, 'utf8')).toBe('half\nwhole\n');
});
