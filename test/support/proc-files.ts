import { readFileSync, readlinkSync } from 'node:fs';

/** The text of a file of a process; empty if the process has ended or belongs to somebody else. */
export function readProc(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** The target of a link of a process; null if the process has ended or belongs to somebody else. */
export function linkOf(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}
