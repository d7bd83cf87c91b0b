import { readdirSync } from 'node:fs';
import { readProc } from '../support/proc-files.ts';

let count = 0;

/** Returns a command that sleeps longer than any test. Its time is unique among the tests. */
export function uniqueSleep(): string {
  return `sleep ${100_000 + (process.pid % 90_000)}.${String(++count).padStart(3, '0')}7`;
}

/** Returns the command lines of the running processes that begin with this. */
export function livingWith(command: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => readProc(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim())
    .filter((line) => line.startsWith(command));
}
