import { readlinkSync } from 'node:fs';
import { unlessUnseen } from './stat-of.ts';

/**
 * The target of a link, as the link names it. Returns null if there is no link, or none that this
 * user can see.
 */
export function linkTarget(path: string): string | null {
  return unlessUnseen(() => readlinkSync(path));
}
