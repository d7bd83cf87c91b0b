import type { Env } from '../../../base/env.ts';
import type { Log } from '../../../base/log.ts';
import { NO_PROFILE, PROFILE_EACH_TIME, type ShellExports } from './shell-exports.ts';
import { ShellSnapshot } from './shell-snapshot.ts';
import type { SnapshotServices } from './take-snapshot.ts';

interface ShellExportsOptions {
  env: Env;
  /** Whether runs must not depend on the files of the user's home. */
  isSimulated: boolean;
  /** False: the start files of the user's shell are not read for its variables. */
  isRead: boolean;
}

/** Makes what commands get from the user's shell. `close` ends the shell if it runs. */
export function createShellExports(
  { env, isSimulated, isRead }: ShellExportsOptions,
  { processes, clock, log }: Omit<SnapshotServices, 'env'> & { log: Log },
): ShellExports & { close?(): void } {
  if (isSimulated) return NO_PROFILE;
  return isRead ? new ShellSnapshot({ processes, clock, log, env }) : PROFILE_EACH_TIME;
}
