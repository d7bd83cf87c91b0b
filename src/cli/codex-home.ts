import { join } from 'node:path';

/** The home that Codex has if no variable names another one. */
export function codexHome(userHome: string): string {
  return join(userHome, '.codex');
}
