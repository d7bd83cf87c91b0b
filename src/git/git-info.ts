import type { Env } from '../config/config.ts';
import { projectFolders } from '../config/project-folders.ts';
import type { GitInfo } from '../protocol/generated/types.ts';

const GIT_TIMEOUT_MS = 2000;
const OUTPUT_BYTES_MAX = 64 * 1024;

/**
 * Commit, branch and remote of the repository that `cwd` lies in; null, without starting anything, where there is none.
 * What git does not tell, in time or at all, is null. Never rejects.
 */
export async function readGitInfo({ cwd, env }: { cwd: string; env: Env }, signal: AbortSignal): Promise<GitInfo | null> {
  if (!projectFolders(cwd).isRepository) return null;
  const git = (args: string[]) => runGit({ cwd, env, args }, signal);
  const [sha, branch, originUrl] = await Promise.all([
    git(['rev-parse', '--verify', 'HEAD']),
    git(['symbolic-ref', '--short', 'HEAD']),
    git(['config', '--get', 'remote.origin.url']),
  ]);
  return { sha, branch, originUrl: originUrl === null ? null : withoutCredentials(originUrl) };
}

/** The first line that git prints; null where it fails, is not there, or prints nothing. */
async function runGit({ cwd, env, args }: { cwd: string; env: Env; args: string[] }, signal: AbortSignal): Promise<string | null> {
  // The repository may belong to anyone: none of its hooks or helpers run, no lock is taken, and nobody is asked.
  const settings = ['core.fsmonitor=false', 'core.hooksPath=/dev/null', 'safe.bareRepository=explicit'];
  const safe = ['--no-optional-locks', ...settings.flatMap((setting) => ['-c', setting]), '-C', cwd];
  const options = {
    // Not the repository: a relative entry of PATH must not find a program in it.
    cwd: '/',
    // Windows starts nothing without SystemRoot, and has its own name for the home.
    env: { PATH: env.PATH, HOME: env.HOME ?? env.USERPROFILE, SystemRoot: env.SystemRoot, GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C' },
    timeout: GIT_TIMEOUT_MS,
    killSignal: 'SIGKILL',
    maxBuffer: OUTPUT_BYTES_MAX,
    signal,
  } as const;
  const { execFile } = await import('node:child_process');
  return new Promise((resolve) => {
    execFile('git', [...safe, ...args], options, (error, stdout) => {
      const [line = ''] = stdout.split('\n');
      resolve(error !== null || line === '' ? null : line);
    });
  });
}

/** A remote may carry a user and a token; the name before an ssh host is part of the address and stays. */
function withoutCredentials(remote: string): string {
  if (!URL.canParse(remote)) return remote.replace(/\/\/[^/@]*@/, '//');
  const url = new URL(remote);
  if (url.password === '' && url.username === '') return remote;
  url.password = '';
  if (url.protocol !== 'ssh:') url.username = '';
  return url.href;
}
