import { type Stats, statSync } from 'node:fs';

/** Tells whether the file at a path has been replaced by another one. Null: there is none. */
export function fileIdentity(path: string): string | null {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? null : identityOf(stats);
}

/** The same for a file whose stats are known. */
export function identityOf({ dev, ino }: Stats): string {
  return `${dev}:${ino}`;
}
