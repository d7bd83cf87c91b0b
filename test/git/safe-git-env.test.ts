import { execFileSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { safeGitEnv } from '../../src/git/safe-git-env.ts';
import { tempFolder, writeFiles } from '../config/temp-folder.ts';

const SIGNED = `author a <a@b> 1 +0000
committer a <a@b> 1 +0000
gpgsig -----BEGIN PGP SIGNATURE-----
 
 x
 -----END PGP SIGNATURE-----

a commit
`;

test.each([
  ['gpg.program', ['log']],
  ['core.fsmonitor', ['status']],
])('with these variables, git does not run the %s of a repository', (key, args) => {
  const folder = tempFolder();
  const ran = join(folder, 'ran');
  const git = (words: readonly string[], env: Record<string, string> = {}, input = '') =>
    execFileSync('git', words, {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: folder, ...env },
      input,
      encoding: 'utf8',
    }).trim();
  git(['init', '-q']);
  writeFiles(folder, { file: 'text', 'run.sh': `#!/bin/sh\ntouch '${ran}'\n` });
  execFileSync('chmod', ['+x', join(folder, 'run.sh')]);
  git(['add', 'file']);
  git([
    'update-ref',
    'HEAD',
    git(
      ['hash-object', '-t', 'commit', '-w', '--stdin'],
      {},
      `tree ${git(['write-tree'])}\n${SIGNED}`,
    ),
  ]);
  git(['config', 'log.showSignature', 'true']);
  git(['config', key, join(folder, 'run.sh')]);
  git(args);
  expect(existsSync(ran)).toBe(true);
  rmSync(ran);
  git(args, safeGitEnv());
  expect(existsSync(ran)).toBe(false);
});
