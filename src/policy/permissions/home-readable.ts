import { relative, sep } from 'node:path';
import { isWithin } from '../../base/is-within.ts';

/** What of heddle's home a confined command may read: all else in it is absent. */
export const HOME_READABLE: readonly string[] = ['config.toml', 'AGENTS.md', 'AGENTS.override.md', 'skills', 'rules', 'prompts'];

/** What no confined command reads or writes, wherever its roots lie: keys, and what was said. */
export const HOME_SECRETS: readonly string[] = [
  ...['auth.json', '.credentials.json', 'heddle.db', 'heddle.db-wal', 'heddle.db-shm', 'history.jsonl'],
  ...['heddle-writers', 'sessions', 'archived_sessions'],
];

/** What a home that is a writable root itself keeps from being changed. */
export const HOME_KEPT: readonly string[] = [...HOME_READABLE, ...HOME_SECRETS, 'log', 'logs', 'heddle.log'];

/** Whether the path is one of these in the home, or lies below one. In any case: some file systems do not tell cases apart. */
export function isOfHome(path: string, home: string, names: readonly string[]): boolean {
  const name = isWithin(path, home) ? relative(home, path).split(sep)[0]?.toLowerCase() : undefined;
  return name !== undefined && names.some((one) => one.toLowerCase() === name);
}
