import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { followPath } from '../../../src/base/paths/follow-path.ts';

function folder(): string {
  const made = realpathSync(mkdtempSync(join(tmpdir(), 'heddle-facts-')));
  onTestFinished(() => rmSync(made, { recursive: true }));
  return made;
}

test('a link is followed as often as it is on the way', () => {
  const root = folder();
  mkdirSync(join(root, 'real'));
  writeFileSync(join(root, 'real', 'file'), '');
  symlinkSync('real', join(root, 'alias'));
  symlinkSync('../alias/file', join(root, 'real', 'again'));
  expect(followPath(join(root, 'alias', 'again'))).toEqual({
    end: join(root, 'real', 'file'),
    isComplete: true,
    links: [
      { link: join(root, 'alias'), target: 'real' },
      { link: join(root, 'real', 'again'), target: '../alias/file' },
      { link: join(root, 'alias'), target: 'real' },
    ],
  });
});

test('links that lead in a circle lead to one of them', () => {
  const root = folder();
  symlinkSync('loop', join(root, 'loop'));
  expect(followPath(join(root, 'loop', 'below')).end).toBe(join(root, 'loop', 'below'));
});
