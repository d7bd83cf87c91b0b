import { join } from 'node:path';
import { statOf } from '../../base/paths/stat-of.ts';
import { AUTH_FILE } from './stored-login.ts';

/** The home that Codex has if no variable names another one. */
export function codexHome(userHome: string): string {
  return join(userHome, '.codex');
}

/** The home that Codex has by default, if there are files of it. Null: there are none. */
export function foundCodexHome(userHome: string): string | null {
  const folder = codexHome(userHome);
  return CODEX_FILES.some((name) => statOf(join(folder, name)) !== null) ? folder : null;
}

const CODEX_FILES = ['config.toml', AUTH_FILE, 'sessions'];
