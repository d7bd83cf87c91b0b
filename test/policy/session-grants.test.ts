import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { resolveLinks } from '../../src/base/paths/follow-path.ts';
import { pathIdentity } from '../../src/base/paths/path-identity.ts';
import { SessionGrants } from '../../src/policy/permissions/session-grants.ts';
import { shownPath } from '../../src/tools/shown-path.ts';
import { tempFolder } from '../config/temp-folder.ts';

test('a grant for the turn ends with the turn, a grant for the session does not', () => {
  const grants = new SessionGrants();
  grants.grant({ read: ['/r'], write: [], network: false }, 'session');
  grants.grant({ read: [], write: ['/w'], network: true }, 'turn');
  expect(grants.permissions).toEqual([
    { read: ['/r'], write: [], network: false },
    { read: [], write: ['/w'], network: true },
  ]);
  grants.endTurn();
  expect(grants.permissions).toEqual([{ read: ['/r'], write: [], network: false }]);
});

test('a granted path that has become a link, or is behind one, is no longer granted', () => {
  const folder = tempFolder();
  const [build, below, other] = [
    join(folder, 'build'),
    join(folder, 'build', 'new', 'one'),
    join(folder, 'other'),
  ];
  for (const path of [build, other]) mkdirSync(path);
  const grants = new SessionGrants(pathIdentity);
  grants.grant({ read: [below], write: [build, other], network: true }, 'session');
  expect(grants.permissions).toEqual([{ read: [below], write: [build, other], network: true }]);
  rmSync(build, { recursive: true });
  symlinkSync('/etc', build);
  expect(grants.permissions).toEqual([{ read: [], write: [other], network: true }]);
});

test('a granted folder that has been replaced by another folder is no longer granted', () => {
  const folder = tempFolder();
  const [build, file, later] = [join(folder, 'build'), join(folder, 'file'), join(folder, 'later')];
  mkdirSync(build);
  writeFileSync(file, '');
  const grants = new SessionGrants(pathIdentity);
  grants.grant({ read: [build, file], write: [build, later], network: false }, 'session');
  renameSync(build, join(folder, 'old'));
  mkdirSync(build);
  // Editors replace files. A missing path can only be created.
  renameSync(file, join(folder, 'other'));
  writeFileSync(file, '');
  mkdirSync(later);
  expect(grants.permissions).toEqual([{ read: [file], write: [later], network: false }]);
});

test('links to missing paths are followed, and circles end', () => {
  const folder = tempFolder();
  symlinkSync('b', join(folder, 'a'));
  symlinkSync('c/d', join(folder, 'b'));
  symlinkSync('loop', join(folder, 'loop'));
  mkdirSync(join(folder, 'work'));
  symlinkSync('work', join(folder, 'by-link'));
  expect(resolveLinks(join(folder, 'a', 'x'))).toBe(join(folder, 'c', 'd', 'x'));
  expect(resolveLinks(join(folder, 'loop', 'x'))).toBe(join(folder, 'loop', 'x'));
  expect(resolveLinks('/')).toBe('/');
  expect(shownPath(join(folder, 'by-link', 'x'), join(folder, 'by-link'))).toBe(
    join(folder, 'by-link', 'x'),
  );
  expect(shownPath(join(folder, 'by-link', 'x'), folder)).toBe(join(folder, 'work', 'x'));
});
