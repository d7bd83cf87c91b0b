import { accessSync, constants } from 'node:fs';

export interface SandboxProgram {
  name: 'bubblewrap' | 'seatbelt';
  path: string;
}

/** The PATH is not searched, because it may contain folders of a workspace. */
const BUBBLEWRAP_PLACES = [
  '/usr/bin/bwrap',
  '/usr/local/bin/bwrap',
  '/bin/bwrap',
  '/run/current-system/sw/bin/bwrap',
];
const SEATBELT_PLACE = '/usr/bin/sandbox-exec';

/**
 * Returns the program that confines commands on this system. Returns null if it is not installed.
 * Does not run it.
 */
export function sandboxProgram(platform: NodeJS.Platform): SandboxProgram | null {
  if (platform === 'darwin')
    return canRun(SEATBELT_PLACE) ? { name: 'seatbelt', path: SEATBELT_PLACE } : null;
  const path = platform === 'linux' ? BUBBLEWRAP_PLACES.find(canRun) : undefined;
  return path === undefined ? null : { name: 'bubblewrap', path };
}

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
