import { readProc } from './read-proc.ts';

/** The files that a process can open, if the system does not say. */
const USUAL = 1024;

/** The number of files that this process can open. */
export function openFilesMax(): number {
  const [, soft = ''] =
    /^Max open files\s+(\d+|unlimited)/m.exec(readProc('/proc/self/limits') ?? '') ?? [];
  return soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft) || USUAL;
}
