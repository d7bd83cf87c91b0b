import { relative, sep } from 'node:path';
import { isWithin } from '../../base/paths/is-within.ts';
import { TRUST_RECORD } from '../../config/trust/trust-record.ts';

/** The entries of heddle's home that a confined command may read. It does not see the others. */
export const HOME_READABLE: readonly string[] = [
  'AGENTS.md',
  'AGENTS.override.md',
  'skills',
  'rules',
  'prompts',
];

/** The files of the home with keys or conversations. */
export const SECRET_FILES: readonly string[] = [
  'config.toml',
  'auth.json',
  '.credentials.json',
  'heddle.db',
  'history.jsonl',
];

/**
 * The entries of the home that no confined command can read or write, whatever its roots are: keys,
 * conversations, trust.
 */
export const HOME_SECRETS: readonly string[] = [
  ...SECRET_FILES,
  ...[
    'heddle.db-wal',
    'heddle.db-shm',
    'heddle-writers',
    'sessions',
    'archived_sessions',
    TRUST_RECORD,
    'heddle-mcp.credentials.json',
    // The socket of the server of this home.
    'app-server-control',
  ],
];

/** The entries of the home that stay read-only even if the home is a writable root. */
export const HOME_PROTECTED: readonly string[] = [
  ...HOME_READABLE,
  ...HOME_SECRETS,
  // They decide what runs, so a command must not create them either.
  ...['hooks.json', 'agents'],
  ...['log', 'logs', 'heddle.log'],
];

/**
 * Whether an entry of the home is named like a copy of a secret file, such as an editor's backup:
 * it contains the file's name.
 */
export function isSecretCopy(name: string): boolean {
  return SECRET_FILES.some((file) => name.toLowerCase().includes(file));
}

/** Whether the path is one of the home's secrets, a copy of one, or below one of these. */
export function isHomeSecret(path: string, home: string): boolean {
  const name = entryOf(path, home);
  return name !== undefined && (isOfHome(path, home, HOME_SECRETS) || isSecretCopy(name));
}

/**
 * Whether the path is one of these entries of the home, or below one. Ignores case, because some
 * file systems do.
 */
export function isOfHome(path: string, home: string, names: readonly string[]): boolean {
  const name = entryOf(path, home)?.toLowerCase();
  return name !== undefined && names.some((one) => one.toLowerCase() === name);
}

function entryOf(path: string, home: string): string | undefined {
  return isWithin(path, home) ? relative(home, path).split(sep)[0] : undefined;
}
