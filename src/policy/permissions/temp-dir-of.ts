import type { Env } from '../../base/env.ts';

/** What the TMPDIR of an environment names, where it names a folder by its whole path. */
export function tempDirOf(env: Env): string | null {
  return env.TMPDIR?.startsWith('/') ? env.TMPDIR : null;
}
