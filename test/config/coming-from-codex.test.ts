import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { TOP_KEYS } from '../../src/config/keys/known-tables.ts';
import { OTHER_KEYS, UNSERVED_KEYS } from '../../src/config/keys/unserved-keys.ts';

const page = readFileSync(new URL('../../docs/coming-from-codex.md', import.meta.url), 'utf8');
const [, rest = ''] = page.split('## Keys of config.toml');
const [table = ''] = rest.split('\n## ');
const rows = [...table.matchAll(/^\| (`.*?) \| (.*) \|$/gm)].flatMap(
  ([, keys = '', outcome = '']) =>
    [...keys.matchAll(/`([^`]+)`/g)].map(([, key = '']) => ({
      key,
      isUsed: !/^(not used|later)/.test(outcome),
    })),
);

test('the page about homes of Codex has each key of config.toml once', () => {
  expect(rows.map(({ key }) => key).sort()).toEqual([...TOP_KEYS]);
});

test('it says of exactly the keys that have an effect that they are used', () => {
  const unused = rows.filter(({ isUsed }) => !isUsed).map(({ key }) => key);
  expect(unused.sort()).toEqual([...UNSERVED_KEYS, ...OTHER_KEYS].sort());
});
