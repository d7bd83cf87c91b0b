import { lstatSync } from 'node:fs';
import { resolveLinks } from './follow-path.ts';
import { unlessUnseen } from './stat-of.ts';

/** The facts that show that a file is another one, or has changed. */
export interface FileState {
  /** Which file it is, its size, and its times. */
  text: string;
  /** When its content or its properties last changed. Programs cannot set this time. */
  changedAtMs: number;
  isFolder: boolean;
}

/** Returns the state of the file to which a path leads. Null: nothing is there. */
export function fileState(path: string): FileState | null {
  const stats = unlessUnseen(() => lstatSync(resolveLinks(path), { bigint: true }));
  if (stats === null) return null;
  const { dev, ino, size, mtimeNs, ctimeNs } = stats;
  const text = [dev, ino, size, mtimeNs, ctimeNs].join(':');
  return { text, changedAtMs: Number(ctimeNs / 1_000_000n), isFolder: stats.isDirectory() };
}
