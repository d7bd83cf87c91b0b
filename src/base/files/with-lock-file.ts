import { randomUUID } from 'node:crypto';
import { linkSync, renameSync, rmSync } from 'node:fs';
import { type Clock, sleep, systemClock } from '../clock.ts';
import { statOf } from '../paths/stat-of.ts';
import { hasErrorCode } from '../system-error-code.ts';
import { openNewFile } from './open-new-file.ts';
import { hasEnded, processTag } from './process-tag.ts';
import { readRegularFileSync } from './read-regular-file.ts';

const POLL_MS = 50;
/** A lock this old was left by a process of which this one cannot tell that it has ended. */
const LEFT_MS = 2 * 60 * 1000;
/**
 * A process writes its name into its lock at once. A lock without a name that is this old was left
 * by one that was killed before.
 */
const EMPTY_MS = 1_000;
const BYTES_MAX = 1024;
const NEVER = new AbortController().signal;

/**
 * Runs a task while a lock file of this path exists, so that of all processes one at a time runs
 * one. Waits for the others. A task must end within a minute. Rejects as the task does, and with
 * the system's error if the file cannot be made.
 */
export async function withLockFile<T>(
  path: string,
  clock: Clock,
  task: () => Promise<T>,
): Promise<T> {
  const own = `${processTag()} ${randomUUID()}`;
  while (!(await made(path, own))) {
    const owner = ownerOf(path);
    if (owner !== null && isLeft(path, owner)) removeLeft(path, owner);
    else await sleep(clock, POLL_MS, NEVER);
  }
  try {
    return await task();
  } finally {
    if (ownerOf(path) === own) rmSync(path, { force: true });
  }
}

async function made(path: string, own: string): Promise<boolean> {
  try {
    const file = await openNewFile(path, 0o600);
    try {
      await file.write(own);
    } finally {
      await file.close();
    }
    return true;
  } catch (error) {
    if (hasErrorCode(error, ['EEXIST'])) return false;
    throw error;
  }
}

/** Whether the process that made it has ended. */
function isLeft(path: string, owner: string): boolean {
  const [tag = ''] = owner.split(' ');
  if (hasEnded(tag)) return true;
  const made = statOf(path);
  return made !== null && systemClock.now() - made.mtimeMs > (owner === '' ? EMPTY_MS : LEFT_MS);
}

/**
 * Removes the lock of this owner. If another process has taken it over meanwhile, its lock stays.
 */
function removeLeft(path: string, owner: string): void {
  const aside = `${path}.${randomUUID()}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if (hasErrorCode(error, ['ENOENT'])) return;
    throw error;
  }
  try {
    if (ownerOf(aside) !== owner) linkSync(aside, path);
  } catch (error) {
    if (!hasErrorCode(error, ['EEXIST'])) throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

function ownerOf(path: string): string | null {
  return readRegularFileSync(path, { bytesMax: BYTES_MAX })?.bytes.toString() ?? null;
}
