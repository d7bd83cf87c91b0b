import type { Env } from '../../base/env.ts';

/** Returns the TMPDIR of an environment, or null if it is not an absolute path. */
export function tempDirOf(env: Env): string | null {
  return env.TMPDIR?.startsWith('/') ? env.TMPDIR : null;
}
