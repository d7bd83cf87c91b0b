import { closeSync, openSync } from 'node:fs';

/**
 * As many as Node opens at a time while it looks for a package, with some more for other threads.
 */
const DESCRIPTORS = 4;

/**
 * Throws the system's error if this process has too few file descriptors left to look for a
 * package. Node would not find the package then, and never look again. bin/load-main.js does the
 * same before it loads one.
 */
export function requireDescriptors(): void {
  const files: number[] = [];
  try {
    while (files.length < DESCRIPTORS) files.push(openSync('/', 'r'));
  } finally {
    for (const file of files) closeSync(file);
  }
}
