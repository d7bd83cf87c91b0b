import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { realPath, realPathOrSame } from '../../../src/base/paths/real-path.ts';
import { tempFolder } from '../../config/temp-folder.ts';

test('links are resolved; a path that leads nowhere has no real path', () => {
  const folder = tempFolder();
  writeFileSync(join(folder, 'file'), '');
  symlinkSync('file', join(folder, 'link'));
  symlinkSync('loop', join(folder, 'loop'));
  const paths = ['link', 'loop', 'none', 'file/x', 'n'.repeat(300)].map((name) =>
    join(folder, name),
  );
  expect(paths.map(realPath)).toEqual([join(folder, 'file'), null, null, null, null]);
  expect(paths.map(realPathOrSame)).toEqual([join(folder, 'file'), ...paths.slice(1)]);
});
