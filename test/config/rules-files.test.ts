import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { appendAccepted, appendAllowRule, readRuleFiles } from '../../src/config/rules-files.ts';
import { commandRules } from '../../src/policy/rules/parse-rules.ts';
import { FakeClock } from '../support/fake-clock.ts';

let home: string;
const at = (name: string) => join(home, 'rules', name);
const put = (name: string, text: string | Buffer) => writeFileSync(at(name), text);

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'heddle-rules-'));
  mkdirSync(join(home, 'rules'));
});

afterEach(() => {
  rmSync(home, { recursive: true });
});

test('reads the files that end in .rules, sorted by name', async () => {
  put('b.rules', 'B');
  put('a.rules', 'A');
  put('notes.md', 'x');
  expect(await readRuleFiles(home)).toEqual({
    files: [
      { path: at('a.rules'), text: 'A' },
      { path: at('b.rules'), text: 'B' },
    ],
    accepted: null,
    problems: [],
  });
});

test('a home without rules has none', async () => {
  rmSync(join(home, 'rules'), { recursive: true });
  expect(await readRuleFiles(home)).toEqual({ files: [], accepted: null, problems: [] });
  expect(await readRuleFiles(join(home, 'no', 'home'))).toEqual({
    files: [],
    accepted: null,
    problems: [],
  });
});

test('an unreadable file is a problem, and the others are read', async () => {
  put('a.rules', 'A');
  mkdirSync(at('folder.rules'));
  put('latin.rules', Buffer.from([0x22, 0xe9, 0x22]));
  put('long.rules', 'x'.repeat(1024 * 1024 + 1));
  symlinkSync('loop.rules', at('loop.rules'));
  const { files, problems } = await readRuleFiles(home);
  expect(files).toEqual([{ path: at('a.rules'), text: 'A' }]);
  expect(problems.map(({ path }) => path)).toEqual(
    ['folder', 'latin', 'long', 'loop'].map((name) => at(`${name}.rules`)),
  );
});

test('a rules folder that is not a folder, or contains too many files, is a problem', async () => {
  for (let count = 0; count < 201; count += 1) put(`${count}.rules`, '');
  expect(await readRuleFiles(home)).toEqual({
    files: [],
    accepted: null,
    problems: [{ path: join(home, 'rules'), message: 'there are more than 200 rules files' }],
  });
  rmSync(join(home, 'rules'), { recursive: true });
  writeFileSync(join(home, 'rules'), '');
  expect(await readRuleFiles(home)).toMatchObject({
    files: [],
    problems: [{ path: join(home, 'rules') }],
  });
});

test('files that have not changed are read and parsed once', async () => {
  const later = new FakeClock(Date.now() + 60_000);
  put('a.rules', 'A');
  put('default.rules', 'B');
  const first = await readRuleFiles(home, later);
  expect(await readRuleFiles(home, later)).toBe(first);
  expect(await commandRules(first)).toBe(await commandRules(first));
  const changes: (() => void)[] = [
    () => put('a.rules', 'C'),
    () => rmSync(at('a.rules')),
    () => put('heddle-accepted.jsonl', '{}'),
    () => renameSync(at('default.rules'), at('b.rules')),
    () => symlinkSync('b.rules', at('c.rules')),
  ];
  let before = first;
  for (const change of changes) {
    // A time of change can be the same within a tick of the kernel.
    await vi.waitFor(
      () => {
        const tick = statSync(at(''), { bigint: true }).ctimeNs;
        put('tick.txt', '');
        rmSync(at('tick.txt'));
        expect(statSync(at(''), { bigint: true }).ctimeNs).not.toBe(tick);
      },
      { interval: 1 },
    );
    change();
    const after = await readRuleFiles(home, later);
    expect(after).not.toEqual(before);
    before = after;
  }
});

test('all who ask before a reading begins share it', async () => {
  put('a.rules', 'A');
  const [one, other] = [readRuleFiles(home), readRuleFiles(home)];
  expect(await one).toBe(await other);
  const reading = readRuleFiles(home);
  await Promise.resolve();
  put('a.rules', 'B');
  expect((await readRuleFiles(home)).files[0]?.text).toBe('B');
  await reading;
});

test('files that change twice within a moment are read each time', async () => {
  const operation = fc.record({
    name: fc.constantFrom('a.rules', 'b.rules'),
    text: fc.constantFrom('A', 'B', null),
    link: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { maxLength: 30 }), async (operations) => {
      for (const { name, text, link } of operations) {
        rmSync(at(name), { force: true });
        if (text !== null) {
          const target = link ? `${name}.txt` : name;
          put(target, text);
          if (link) symlinkSync(target, at(name));
        }
        const { files } = await readRuleFiles(home);
        expect(files.find(({ path }) => path === at(name))?.text ?? null).toBe(text);
      }
    }),
    { seed: 7, numRuns: 50 },
  );
});

test('an allowed prefix becomes a rule of default.rules, for its owner only, once', async () => {
  rmSync(join(home, 'rules'), { recursive: true });
  appendAllowRule(home, ['touch', 'x.txt']);
  appendAllowRule(home, ['touch', 'y.txt']);
  appendAllowRule(home, ['touch', 'x.txt']);
  expect(readFileSync(at('default.rules'), 'utf8')).toBe(
    'prefix_rule(pattern=["touch", "x.txt"], decision="allow")\nprefix_rule(pattern=["touch", "y.txt"], decision="allow")\n',
  );
  expect(statSync(at('default.rules')).mode & 0o777).toBe(0o600);
  expect(statSync(join(home, 'rules')).mode & 0o777).toBe(0o700);
});

test('the content and the mode of the file stay, also if the last line has no line end', async () => {
  put('default.rules', '# mine');
  chmodSync(at('default.rules'), 0o640);
  appendAllowRule(home, ['ls']);
  expect(readFileSync(at('default.rules'), 'utf8')).toBe(
    '# mine\nprefix_rule(pattern=["ls"], decision="allow")\n',
  );
  expect(statSync(at('default.rules')).mode & 0o777).toBe(0o640);
});

test('any words are read back unchanged', async () => {
  const words = fc.array(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 }), {
    minLength: 1,
    maxLength: 3,
  });
  await fc.assert(
    fc.asyncProperty(words, async (prefix) => {
      rmSync(at('default.rules'), { force: true });
      appendAllowRule(home, prefix);
      expect(await commandRules(await readRuleFiles(home))).toEqual({
        rules: [{ pattern: prefix.map((word) => [word]), decision: 'allow', justification: null }],
        networkRules: [],
        problems: [],
      });
    }),
    { examples: [[['a"b', "c'\\", '\n\t\r', '\u0001\u007f\u2028', '# )]']]], numRuns: 50 },
  );
});

test('a rule that cannot be written is an error', async () => {
  rmSync(join(home, 'rules'), { recursive: true });
  writeFileSync(join(home, 'rules'), '');
  expect(() => appendAllowRule(home, ['ls'])).toThrow();
});

test('accepted lines are all kept, each whole', async () => {
  const lines = Array.from(
    { length: 50 },
    (_, index) => `{"words":["w${index}"],"exact":true,"project":"/p"}`,
  );
  for (const line of lines) appendAccepted(home, line);
  const text = (await readRuleFiles(home)).accepted?.text ?? '';
  expect(
    text
      .split('\n')
      .filter((line) => line !== '')
      .sort(),
  ).toEqual(lines.sort());
});

test('a file is not made larger than heddle reads, and no pipe is written', async () => {
  const full = `${'#'.repeat(1024 * 1024 - 10)}\n`;
  put('default.rules', full);
  expect(() => appendAllowRule(home, ['ls'])).toThrow('larger than');
  expect(readFileSync(at('default.rules'), 'utf8')).toBe(full);
  execFileSync('mkfifo', [at('heddle-accepted.jsonl')]);
  expect(() => appendAccepted(home, '{}')).toThrow('not a regular file');
  expect((await readRuleFiles(home)).problems).toMatchObject([
    { path: at('heddle-accepted.jsonl') },
  ]);
});
