import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** The size of a huge entry. It takes no room on disk. */
export const HUGE_BYTES = 600 * 1024 * 1024;

/** Entries that others can put at a path where a reader expects a small regular file. */
export const HOSTILE_ENTRIES: Readonly<Record<string, (path: string) => void>> = {
  'a pipe': makePipe,
  'a link to a pipe': (path) => linkTo(path, makePipe),
  'a socket': makeSocket,
  'a link to a socket': (path) => linkTo(path, makeSocket),
  'a link to an endless device': (path) => symlinkSync('/dev/zero', path),
  'a link to an empty device': (path) => symlinkSync('/dev/null', path),
  'a link to a terminal': (path) => symlinkSync('/dev/ptmx', path),
  'a folder': (path) => mkdirSync(path),
  'a link to itself': (path) => symlinkSync(basename(path), path),
  'a link to a name that is too long': (path) => symlinkSync('n'.repeat(300), path),
  'a link through a file': (path) => {
    writeFileSync(`${path}.target`, '');
    symlinkSync(`${basename(path)}.target/x`, path);
  },
  'a huge file': makeHuge,
  'a link to a huge file': (path) => linkTo(path, makeHuge),
};

function linkTo(path: string, make: (path: string) => void): void {
  make(`${path}.target`);
  symlinkSync(`${basename(path)}.target`, path);
}

function makePipe(path: string): void {
  execFileSync('mkfifo', [path]);
}

/**
 * Leaves a socket that nothing listens on. Makes it in its folder, because paths of sockets are
 * short.
 */
function makeSocket(path: string): void {
  const script = 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])';
  execFileSync('python3', ['-c', script, basename(path)], { cwd: dirname(path) });
}

/** NULs, after a beginning that looks like the file of a repository. */
function makeHuge(path: string): void {
  writeFileSync(path, 'gitdir: elsewhere\n');
  truncateSync(path, HUGE_BYTES);
}

/** Makes an entry of this kind in a folder, and returns its path. */
export function hostileEntry(folder: string, kind: string, name = 'entry'): string {
  const path = join(folder, name);
  HOSTILE_ENTRIES[kind]?.(path);
  return path;
}
