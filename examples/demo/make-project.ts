import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The folder of the project in the folder of a session. */
export function projectIn(folder: string): string {
  return join(folder, 'project');
}

/** Makes a repository with one file in the folder of a session. Returns its commit. */
export function makeProject(folder: string): { sha: string } {
  const project = projectIn(folder);
  mkdirSync(project);
  writeFileSync(join(project, 'hello.txt'), 'Hello.\n');
  const git = (...args: string[]) => runGit(project, args);
  const author = [
    '-c',
    'user.name=demo',
    '-c',
    'user.email=demo@localhost',
    '-c',
    'commit.gpgsign=false',
  ];
  git('init', '--quiet');
  git('symbolic-ref', 'HEAD', 'refs/heads/main');
  git('add', '.');
  git(...author, 'commit', '--quiet', '--message', 'A file');
  return { sha: git('rev-parse', 'HEAD') };
}

function runGit(cwd: string, args: string[]): string {
  try {
    return execFileSync('git', args, { cwd, encoding: 'utf8' }).trim();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
      throw new Error('git is not in the PATH: install it, and run the demo again', {
        cause: error,
      });
    throw error;
  }
}
