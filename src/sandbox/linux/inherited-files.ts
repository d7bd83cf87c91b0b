import { existsSync, readdirSync } from 'node:fs';
import { textOf } from '../../base/stat-of.ts';
import { SandboxUnavailableError } from '../processes/processes.ts';

const CLOSE_ON_EXEC = 0o2000000;
const ACCESS_MODE = 3;
const WRITE_ONLY = 1;
/** The standard ones, and the filter's, which takes the place of what was inherited. */
const FILES_GIVEN = 4;
const BASH_PLACES = ['/bin/bash', '/usr/bin/bash', '/run/current-system/sw/bin/bash'];

export interface InheritedFiles {
  /** What to put before a program, to close them. */
  before: readonly string[];
  /** Options of bubblewrap that do. */
  options: readonly string[];
}

/**
 * How to keep from commands what the server was itself started with and every process would inherit: an open folder is a way
 * out of any sandbox. Mostly there is nothing. Throws a `SandboxUnavailableError` where bash, which can close them, is missing.
 */
export function closeInheritedFiles(): InheritedFiles {
  const inherited = readdirSync('/proc/self/fd').map(Number).filter(isInherited);
  const [only] = inherited;
  if (only === undefined) return { before: [], options: [] };
  // Waiting for what can only be written to fails at once, and then it is closed: that spares a bash for each command.
  if (inherited.length === 1 && (flagsOf(only) & ACCESS_MODE) === WRITE_ONLY) return { before: [], options: ['--block-fd', String(only)] };
  const bash = BASH_PLACES.find((path) => existsSync(path));
  if (bash === undefined) {
    throw new SandboxUnavailableError(
      `heddle was started with open files (${inherited.join(', ')}), which only bash could keep from commands.`,
    );
  }
  const closing = `exec ${inherited.map((file) => `${file}>&-`).join(' ')}; exec "$@"`;
  return { before: [bash, '--norc', '--noprofile', '-c', closing, 'bash'], options: [] };
}

function isInherited(file: number): boolean {
  return file >= FILES_GIVEN && (flagsOf(file) & CLOSE_ON_EXEC) === 0;
}

/** Of a file that was closed meanwhile, as if no process inherited it. */
function flagsOf(file: number): number {
  const flags = /^flags:\s*([0-7]+)$/m.exec(textOf(`/proc/self/fdinfo/${file}`) ?? '')?.[1];
  return flags === undefined ? CLOSE_ON_EXEC : Number.parseInt(flags, 8);
}
