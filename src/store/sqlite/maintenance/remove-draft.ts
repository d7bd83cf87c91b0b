import { rmSync } from 'node:fs';

/** Removes an incomplete database with all files beside it, if it is there. */
export function removeDraft(draft: string): void {
  for (const end of ['', '-wal', '-shm', '-journal']) rmSync(draft + end, { force: true });
}
