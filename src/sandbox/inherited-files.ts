import { existsSync, readdirSync } from 'node:fs';
import { textOf } from './file-facts.ts';
import { SandboxUnavailableError } from './processes.ts';

const CLOSE_ON_EXEC = 0o2000000;
const STANDARD_FILES = 3;
const BASH_PLACES = ['/bin/bash', '/usr/bin/bash', '/run/current-system/sw/bin/bash'];

/**
 * What to put before a program, so that it does not find open what the server was itself started with and every process would
 * inherit: an open folder is a way out of any sandbox. Mostly nothing. Throws a `SandboxUnavailableError` where bash, which can
 * close them, is missing.
 */
export function closeInheritedFiles(): string[] {
  const inherited = readdirSync('/proc/self/fd').map(Number).filter(isInherited);
  if (inherited.length === 0) return [];
  const bash = BASH_PLACES.find((path) => existsSync(path));
  if (bash === undefined) {
    throw new SandboxUnavailableError(
      `heddle was started with open files (${inherited.join(', ')}), which only bash could keep from commands.`,
    );
  }
  return [bash, '--norc', '--noprofile', '-c', `exec ${inherited.map((file) => `${file}>&-`).join(' ')}; exec "$@"`, 'bash'];
}

function isInherited(file: number): boolean {
  if (file < STANDARD_FILES) return false;
  const flags = /^flags:\s*([0-7]+)$/m.exec(textOf(`/proc/self/fdinfo/${file}`) ?? '')?.[1];
  return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
}
