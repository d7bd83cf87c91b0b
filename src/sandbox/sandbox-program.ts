import { accessSync, constants } from 'node:fs';

export interface SandboxProgram {
  name: 'bubblewrap' | 'seatbelt';
  path: string;
}

/** Not looked for in the PATH, which may lead into a workspace. */
const BUBBLEWRAP_PLACES = ['/usr/bin/bwrap', '/usr/local/bin/bwrap', '/bin/bwrap', '/run/current-system/sw/bin/bwrap'];
const SEATBELT_PLACE = '/usr/bin/sandbox-exec';

/** The program that would confine commands on this system; null where there is none. It is looked for, and not tried. */
export function sandboxProgram(platform: NodeJS.Platform): SandboxProgram | null {
  if (platform === 'darwin') return canRun(SEATBELT_PLACE) ? { name: 'seatbelt', path: SEATBELT_PLACE } : null;
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
