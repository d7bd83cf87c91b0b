import { join } from 'node:path';

/** The database of the threads in a folder. */
export function databaseFile(folder: string): string {
  return join(folder, 'heddle.db');
}
