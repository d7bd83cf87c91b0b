import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasEnded, processTag, TAG_FORM } from '../../../src/base/files/process-tag.ts';

const NAME = new RegExp(`^heddle-tests-(${TAG_FORM})$`);

const ENDING = { SIGHUP: 1, SIGTERM: 15 };

/**
 * Gives this run of the tests, and everything that it starts, a folder of its own for temporary
 * files, which is removed at the end of this process. Also removes those of runs that were killed.
 */
export function useOwnTempFolder(): void {
  const above = tmpdir();
  // The caller has done so.
  if (process.env.XDG_STATE_HOME?.startsWith(`${above}/`)) return;
  for (const name of readdirSync(above))
    if (hasEnded(NAME.exec(name)?.[1] ?? '')) remove(join(above, name));
  const folder = join(above, `heddle-tests-${processTag()}`);
  // Some tests run programs of other users in it.
  mkdirSync(folder, { mode: 0o755 });
  Object.assign(process.env, { TMPDIR: folder, XDG_STATE_HOME: join(folder, 'state') });
  process.on('exit', () => remove(folder));
  // Vitest ends with Ctrl-C by itself.
  for (const [signal, number] of Object.entries(ENDING))
    process.once(signal, () => process.exit(128 + number));
}

/** Processes that are just ending may still write. Another user's folder stays. */
function remove(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  } catch {
    // The next run tries again.
  }
}
