import { lstatSync, writeFileSync } from 'node:fs';
import { arch } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';

/** The system call renameat2, which perl has no name for. */
const RENAMEAT2 = arch() === 'arm64' ? 276 : 316;
const EXCHANGE = 2;
/**
 * Long enough that an entry often changes between check and use, and short enough that it changes
 * often.
 */
const PAUSE_SECONDS_MAX = 0.008;
const SECONDS_MAX = 60;

export interface Flip {
  /** The names that are exchanged, relative to the working directory of the command. */
  one: string;
  other: string;
  /** How long an entry stays at most, in seconds. 0: as short as it can. */
  pauseSecondsMax?: number;
}

/**
 * A script that exchanges two entries of the file system again and again, until the file `stop` is
 * in the working directory.
 */
export function flipping({ one, other, pauseSecondsMax = PAUSE_SECONDS_MAX }: Flip): string {
  const exchange = `syscall(${RENAMEAT2}, -100, $ARGV[0], -100, $ARGV[1], ${EXCHANGE})`;
  const pause =
    pauseSecondsMax === 0 ? '' : ` select(undef, undef, undef, rand(${pauseSecondsMax}));`;
  return `perl -e 'until (-e "stop" || time > $^T + ${SECONDS_MAX}) { ${exchange};${pause} }' ${one} ${other}`;
}

/** Resolves when the path has been a link. */
export async function becomesLink(path: string): Promise<void> {
  await vi.waitUntil(() => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true, {
    timeout: 10_000,
    interval: 1,
  });
}

/** Ends the script that runs in the folder. */
export function stopFlipping(folder: string): void {
  writeFileSync(join(folder, 'stop'), '');
}
