import { relative, sep } from 'node:path';
import { isWithin } from '../../base/paths/is-within.ts';
import { TRUST_RECORD } from '../../config/trust/trust-record.ts';

/** The entries of heddle's home that a confined command may read. It does not see the others. */
export const HOME_READABLE: readonly string[] = ['config.toml', 'AGENTS.md', 'AGENTS.override.md', 'skills', 'rules', 'prompts'];

/** The entries of the home that no confined command can read or write, whatever its roots are: keys, conversations, trust. */
export const HOME_SECRETS: readonly string[] = [
  ...['auth.json', '.credentials.json', 'heddle.db', 'heddle.db-wal', 'heddle.db-shm', 'history.jsonl'],
  ...['heddle-writers', 'sessions', 'archived_sessions', TRUST_RECORD],
];

/** The entries of the home that stay read-only even if the home is a writable root. */
export const HOME_PROTECTED: readonly string[] = [...HOME_READABLE, ...HOME_SECRETS, 'log', 'logs', 'heddle.log'];

/** Whether the path is one of these entries of the home, or below one. Ignores case, because some file systems do. */
export function isOfHome(path: string, home: string, names: readonly string[]): boolean {
  const name = isWithin(path, home) ? relative(home, path).split(sep)[0]?.toLowerCase() : undefined;
  return name !== undefined && names.some((one) => one.toLowerCase() === name);
}
