import { existsSync } from 'node:fs';
import { namesInProc, readProc } from '../../base/files/read-proc.ts';
import { SandboxUnavailableError } from '../processes/processes.ts';

const CLOSE_ON_EXEC = 0o2000000;
const ACCESS_MODE = 3;
const WRITE_ONLY = 1;
/** The descriptors of input, output and errors. */
const STANDARD_FILES = 3;
export const BASH_PLACES = ['/bin/bash', '/usr/bin/bash', '/run/current-system/sw/bin/bash'];

/** How to close files that a process has inherited. */
export interface FileClosing {
  /** Arguments to put before a program, to close the files. */
  before: readonly string[];
  /** Options of bubblewrap that close them. */
  options: readonly string[];
}

/**
 * Returns the files that the server itself inherited. Commands must not inherit them: through an
 * open folder, a command could leave any sandbox. Usually there are none.
 */
export function inheritedFiles(): number[] {
  return namesInProc('/proc/self/fd').map(Number).filter(isInherited);
}

/**
 * Returns how to close the inherited files except those with descriptors below `given`, which the
 * process gets replacements for. Throws a `SandboxUnavailableError` if bash is needed to close them
 * and is missing.
 */
export function closeInherited(all: readonly number[], given: number): FileClosing {
  const inherited = all.filter((file) => file >= given);
  const [only] = inherited;
  if (only === undefined) return { before: [], options: [] };
  // bubblewrap waits for the file, which fails at once if it is write-only, and then closes it.
  // This saves a bash per command.
  if (inherited.length === 1 && (flagsOf(only) & ACCESS_MODE) === WRITE_ONLY)
    return { before: [], options: ['--block-fd', String(only)] };
  const bash = BASH_PLACES.find((path) => existsSync(path));
  if (bash === undefined) {
    throw new SandboxUnavailableError(
      `Commands cannot be sandboxed: heddle was started with open files (${inherited.join(', ')}). Install bash, which can close them for commands.`,
    );
  }
  const closing = `exec ${inherited.map((file) => `${file}>&-`).join(' ')}; exec "$@"`;
  return { before: [bash, '--norc', '--noprofile', '-c', closing, 'bash'], options: [] };
}

function isInherited(file: number): boolean {
  return file >= STANDARD_FILES && (flagsOf(file) & CLOSE_ON_EXEC) === 0;
}

/**
 * Returns the flags of an open file. For a file closed in the meantime, returns flags that count as
 * not inherited.
 */
function flagsOf(file: number): number {
  const flags = /^flags:\s*([0-7]+)$/m.exec(readProc(`/proc/self/fdinfo/${file}`) ?? '')?.[1];
  return flags === undefined ? CLOSE_ON_EXEC : Number.parseInt(flags, 8);
}
