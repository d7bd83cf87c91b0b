import { describe, expect, test } from 'vitest';
import { isSafeSqlite } from '../../src/store/sqlite/connect/is-safe-sqlite.ts';
import {
  hasUsableSqlite,
  nativeBuildProblem,
  wrongNode,
} from '../../src/store/sqlite/connect/native-build-problem.ts';
import { resultCodeName } from '../../src/store/sqlite/connect/result-code-name.ts';

const { node, modules } = process.versions;

describe('the store works', () => {
  test('with the Node that better-sqlite3 is built for', async () => {
    expect(await nativeBuildProblem({ node, modules })).toBe(null);
  });

  test('with another one that has a SQLite without the bug of several writers', async () => {
    expect(await nativeBuildProblem({ node: '24.21.0', modules: '9999', sqlite: '3.51.3' })).toBe(
      null,
    );
  });
});

test.each([undefined, '3.51.2'])(
  'another Node with SQLite %s: the text names both versions and the solution',
  async (sqlite) => {
    const problem = await nativeBuildProblem({
      node: '99.1.0',
      modules: '9999',
      ...(sqlite === undefined ? {} : { sqlite }),
    });
    expect(problem).toMatch(
      new RegExp(
        `better-sqlite3 is built for Node ${node.split('.')[0]} \\(NODE_MODULE_VERSION ${modules}\\), and heddle runs with Node 99.1.0 ` +
          '\\(NODE_MODULE_VERSION 9999\\), .*Run `npm rebuild better-sqlite3` with this Node in /',
      ),
    );
  },
);

test('a better-sqlite3 that is not built at all is named as such', () => {
  expect(wrongNode(null, { node, modules })).toContain(
    'better-sqlite3 is not built, and heddle runs with',
  );
});

test.each([
  ['3.51.3', true],
  ['3.51.2', false],
  ['3.53.0', true],
  ['3.9.9', false],
  ['4.0.0', true],
])('SQLite %s is safe with several writers: %s', (version, safe) => {
  expect(isSafeSqlite(version)).toBe(safe);
});

test.each([
  ['24.0.0', '3.51.3', true],
  ['26.1.0', '3.53.4', true],
  ['24.0.0', '3.51.2', false],
  ['22.23.3', '3.53.4', false],
  ['20.20.2', undefined, false],
])('Node %s with SQLite %s has one that heddle can use: %s', (node, sqlite, usable) => {
  expect(hasUsableSqlite({ node, ...(sqlite === undefined ? {} : { sqlite }) })).toBe(usable);
});

test.each([
  [1, 'SQLITE_ERROR'],
  [5, 'SQLITE_BUSY'],
  [8, 'SQLITE_READONLY'],
  [11, 'SQLITE_CORRUPT'],
  [13, 'SQLITE_FULL'],
  [26, 'SQLITE_NOTADB'],
  [267, 'SQLITE_CORRUPT_VTAB'],
  [517, 'SQLITE_BUSY_SNAPSHOT'],
  [778, 'SQLITE_IOERR_WRITE'],
  [1032, 'SQLITE_READONLY_DBMOVED'],
  [4874, 'SQLITE_IOERR_SHMSIZE'],
])('the code of error %i is %s', (code, name) => {
  expect(resultCodeName(code)).toBe(name);
});
