import { closeSync, openSync } from 'node:fs';
import { onTestFinished } from 'vitest';

/**
 * A short path of a folder, for all processes until the test ends. The path of a socket must be
 * short.
 */
export function shortPath(folder: string): string {
  const file = openSync(folder, 'r');
  onTestFinished(() => closeSync(file));
  return `/proc/${process.pid}/fd/${file}`;
}
