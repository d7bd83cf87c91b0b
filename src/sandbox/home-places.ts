import { readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { isWithin, realPath, statOf } from './file-facts.ts';
import { mountAliases } from './mount-aliases.ts';
import type { Places } from './places.ts';

/** What of the home a command may read: all else in it is absent. */
const READABLE = ['config.toml', 'AGENTS.md', 'AGENTS.override.md', 'skills', 'rules', 'prompts'];
/** What a home that is itself a writable root keeps from being changed, */
const KEPT = [...READABLE, 'log', 'logs', 'heddle.log'];
/** and from being seen. */
const SECRET = [
  ...['auth.json', 'heddle.db', 'heddle.db-wal', 'heddle.db-shm', 'history.jsonl', '.credentials.json'],
  ...['heddle-writers', 'sessions', 'archived_sessions'],
];

/**
 * Keeps heddle's home, by whatever path it can be reached. It is an empty folder that cannot be changed, in which are only what
 * a command may read and the writable roots that lie in it. A home that is a writable root itself is one, but for its own files.
 */
export function protectHome(home: string, places: Places, everything: boolean): void {
  const real = realPath(home);
  if (real === null) return;
  const own = statOf(real);
  const aliases = mountAliases(real, readFileSync('/proc/self/mountinfo', 'utf8')).filter((alias) => {
    const stat = statOf(alias);
    return stat !== null && stat.ino === own?.ino && stat.dev === own.dev;
  });
  for (const path of [real, ...aliases]) {
    if (places.kinds.get(path) === 'write') keepOwnFiles(path, places);
    else {
      const seen = everything || places.kindOf(path) !== undefined;
      hideHome(path, places);
      if (seen) showHome(path, places);
    }
  }
}

/** What is shown of it by its own name, and is no part of a writable root. */
function hideHome(home: string, places: Places): void {
  const roots = [...places.kinds].filter(([path, kind]) => kind === 'write' && isWithin(path, home)).map(([path]) => path);
  for (const path of places.kinds.keys()) {
    if (isWithin(path, home) && !roots.some((root) => isWithin(path, root))) places.kinds.delete(path);
  }
}

function showHome(home: string, places: Places): void {
  places.set(home, 'bare');
  for (const name of READABLE) {
    const path = join(home, name);
    const stat = statOf(path);
    if (stat?.isSymbolicLink() === true) places.links.set(path, readlinkSync(path));
    else if (stat !== null && !places.kinds.has(path)) places.set(path, 'read');
  }
}

function keepOwnFiles(home: string, places: Places): void {
  for (const name of KEPT) places.protect(join(home, name));
  for (const name of SECRET) places.hide(join(home, name));
}
