import { cpSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { hasUsableSqlite } from '../../src/store/sqlite/connect/native-build-problem.ts';
import { tempFolder } from '../config/temp-folder.ts';
import { EXECUTABLE, type Place, place, startHeddle } from './support.ts';

const root = dirname(dirname(EXECUTABLE));
/** Node 20 and 22 have none. Node 24 has one: there heddle works without better-sqlite3. */
const hasOwnSqlite = hasUsableSqlite(process.versions);
const OTHER = '999';

/**
 * Copies heddle to a folder, with a better-sqlite3 that looks as if it was built for another Node.
 * Returns the executable.
 */
function builtForAnotherNode(): string {
  const folder = tempFolder();
  for (const name of ['bin', 'dist', 'migrations', 'schema', 'package.json'])
    cpSync(join(root, name), join(folder, name), { recursive: true });
  const packages = join(folder, 'node_modules');
  mkdirSync(packages);
  for (const name of readdirSync(join(root, 'node_modules')))
    symlinkSync(join(root, 'node_modules', name), join(packages, name));
  const copy = join(packages, 'better-sqlite3');
  rmSync(copy);
  for (const name of ['package.json', 'lib'])
    cpSync(join(root, 'node_modules/better-sqlite3', name), join(copy, name), { recursive: true });
  mkdirSync(join(copy, 'build/Release'), { recursive: true });
  // No Node loads it, and heddle looks only for this name.
  writeFileSync(join(copy, 'build/Release/better_sqlite3.node'), `node_register_module_v${OTHER}`);
  return join(folder, 'bin', 'heddle.js');
}

function start(where: Place, executable: string) {
  return startHeddle(where, {
    through: ['/bin/sh', '-c', 'node=$1; shift 2; exec "$node" "$0" "$@"', executable],
    errorsLogged: true,
  });
}

test.runIf(hasOwnSqlite)(
  'with another Node than better-sqlite3 is built for, heddle stores threads with the SQLite of that Node',
  async () => {
    const where = place();
    const executable = builtForAnotherNode();
    const heddle = await start(where, executable);
    const { thread } = await heddle.request('thread/start', {});
    await heddle.request('turn/start', {
      threadId: thread.id,
      input: [{ type: 'text', text: 'say kept' }],
    });
    await heddle.waitFor('turn/completed', () => true);
    expect(await heddle.finish()).toEqual({ code: 0, signal: null });
    expect(heddle.errors()).toEqual([]);
    const usual = await startHeddle(where);
    expect(
      (await usual.request('thread/list', { searchTerm: 'say kept' })).data.map(({ id }) => id),
    ).toEqual([thread.id]);
  },
);

test.runIf(!hasOwnSqlite)(
  'a Node that cannot store threads is reported behind the handshake, in the log and by each request',
  async () => {
    const { node, modules } = process.versions;
    const heddle = await start(place(), builtForAnotherNode());
    const summary =
      `threads cannot be stored: better-sqlite3 is built for another Node (NODE_MODULE_VERSION ${OTHER}), ` +
      `and heddle runs with Node ${node} (NODE_MODULE_VERSION ${modules}), which has no SQLite that it can use. `;
    const { summary: told } = await heddle.waitFor('configWarning', (warning) =>
      warning.summary.startsWith('threads'),
    );
    expect(told).toContain(summary);
    expect(told).toContain('Run `npm rebuild better-sqlite3` with this Node in /');
    for (const method of ['thread/start', 'thread/list'])
      expect(await heddle.refusal(method, {})).toEqual({
        code: -32603,
        message: told,
        data: { code: 'store_failed' },
      });
    expect(await heddle.finish()).toEqual({ code: 0, signal: null });
    expect(heddle.stderr).toContain(JSON.stringify(told).slice(1, -1));
  },
);
