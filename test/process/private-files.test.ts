import {
  chmodSync,
  existsSync,
  lstatSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempFolder } from '../config/temp-folder.ts';
import { type Place, place, startHeddle } from './support.ts';

/** As careless as it can be. */
const WITHOUT_MASK = ['sh', '-c', 'umask 0; exec "$@"', 'sh'];

/** The permissions of others than the owner on a folder and on anything below it. Empty: none. */
function openToOthers(folder: string): string[] {
  const paths = ['.', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })].map((name) =>
    join(folder, name),
  );
  return paths.filter(
    (path) => !lstatSync(path).isSymbolicLink() && (lstatSync(path).mode & 0o077) !== 0,
  );
}

async function working(where: Place) {
  const args = ['--log-file', join(where.home, 'log'), '--wire-log', join(where.home, 'wire')];
  const heddle = await startHeddle(where, { through: WITHOUT_MASK, args });
  const { thread } = await heddle.request('thread/start', {});
  await heddle.turn(thread.id, 'hello');
  return heddle;
}

test('what the server makes is for its user alone, whatever the umask', async () => {
  const where = place();
  rmSync(where.home, { recursive: true });
  const heddle = await startHeddle(where, { through: WITHOUT_MASK });
  const { thread } = await heddle.request('thread/start', {});
  await heddle.turn(thread.id, 'hello');
  expect([existsSync(join(where.home, 'heddle.db-wal')), openToOthers(where.home)]).toEqual([
    true,
    [],
  ]);
  await heddle.finish();
  expect(openToOthers(where.home)).toEqual([]);
});

test('files of the server that others could read are theirs no more', async () => {
  const where = place();
  await (await working(where)).finish();
  const shared = tempFolder({ theirs: '' });
  symlinkSync(join(shared, 'theirs'), join(where.home, 'link'));
  for (const name of readdirSync(where.home))
    chmodSync(join(where.home, name), name === 'heddle-writers' ? 0o755 : 0o644);
  writeFileSync(join(where.home, 'config.toml'), '');
  chmodSync(join(where.home, 'config.toml'), 0o640);
  chmodSync(where.home, 0o755);
  const heddle = await working(where);
  // The home itself and what the user writes there are the user's to share.
  expect(openToOthers(where.home)).toEqual([where.home, join(where.home, 'config.toml')]);
  await heddle.finish();
  expect(openToOthers(where.home)).toEqual([where.home, join(where.home, 'config.toml')]);
});
