import { existsSync } from 'node:fs';

const SYSTEM_DIRS = ['/etc/heddle', '/etc/codex'];

/**
 * Returns the folder with the configuration and the requirements for all users of the machine.
 * Null: there is none.
 */
export function systemDir(folders: readonly string[] = SYSTEM_DIRS): string | null {
  return folders.find((path) => existsSync(path)) ?? null;
}
