import { closeSync, existsSync } from 'node:fs';
import { statOf } from '../../base/paths/stat-of.ts';
import { openPlace } from '../places/open-place.ts';
import { ProcessStartError, SandboxUnavailableError } from '../processes/processes.ts';
import { BASH_PLACES } from './inherited-files.ts';

/** A writable place of a view, and a handle of the file or folder that is meant. */
export interface CheckedBind {
  path: string;
  handle: number;
}

/** The shell cannot close files with larger descriptors. */
const SH_FILE_MAX = 9;

/**
 * Opens a handle of each writable place that another command could replace by a link while
 * bubblewrap mounts it by its path. Omits missing places. Throws a `ProcessStartError` if a place
 * is already replaced. The caller closes the handles.
 */
export function openBinds(paths: readonly string[]): CheckedBind[] {
  const binds: CheckedBind[] = [];
  for (const path of paths) {
    const handle = openPlace(path);
    if (handle !== null) binds.push({ path, handle });
    else if (statOf(path) !== null) {
      closeBinds(binds);
      throw new ProcessStartError(
        `${path} was replaced while the command started, so it was not run.`,
      );
    }
  }
  return binds;
}

export function closeBinds(binds: readonly CheckedBind[]): void {
  for (const { handle } of binds) closeSync(handle);
}

/**
 * Returns the arguments that run a command in the sandbox only if each place there is the same file
 * or folder as its handle. The process must inherit the handles, in their order, from the file
 * descriptor `first` on. The command does not get them.
 */
export function checkingArgv(
  binds: readonly CheckedBind[],
  first: number,
  argv: readonly string[],
): readonly string[] {
  if (binds.length === 0) return argv;
  const files = binds.map((_, index) => first + index);
  const script = `${CHECK}exec "$@" ${files.map((file) => `${file}<&-`).join(' ')}`;
  const paths = binds.map(({ path }) => path);
  return [
    ...shellFor(first + binds.length - 1),
    '-c',
    script,
    'heddle',
    String(first),
    String(binds.length),
    ...paths,
    ...argv,
  ];
}

/**
 * Compares the files at the paths in "$@" with those of the descriptors from $1 on; $2 is their
 * number.
 */
const CHECK = `file=$1; left=$2; shift 2
while [ $left -gt 0 ]; do
[ "$1" -ef /proc/self/fd/$file ] || { printf '%s\\n' "heddle: $1 was replaced while the command started, so it was not run." >&2; exit 125; }
shift; file=$((file + 1)); left=$((left - 1))
done
`;

/**
 * Returns the shell that can redirect files up to this number. Throws a `SandboxUnavailableError`
 * if it is not installed.
 */
function shellFor(fileMax: number): string[] {
  if (fileMax <= SH_FILE_MAX) return ['/bin/sh'];
  const bash = BASH_PLACES.find((path) => existsSync(path));
  if (bash === undefined)
    throw new SandboxUnavailableError(
      'Commands cannot be sandboxed here: install bash, which checks the writable folders.',
    );
  // Without -p, bash would first run the file that $BASH_ENV names.
  return [bash, '-p'];
}
