import { dirname } from 'node:path';
import { tooManyHidden } from '../places/find-hidden.ts';
import type { HiddenPlace } from '../places/view-places.ts';
import { ProcessStartError } from '../processes/processes.ts';
import { type MountView, mountedPlaces } from './bubblewrap-mounts.ts';

/** bubblewrap's own limit. It counts the arguments in a file, too, and those of the command. */
const ARGUMENTS_MAX = 9000;

interface Arguments {
  /** All arguments of bubblewrap, with those of the command. */
  count: number;
  argv: readonly string[];
  view: MountView;
  /** What is hidden because of a pattern. */
  concealed: readonly HiddenPlace[];
}

/**
 * Throws a `ProcessStartError` if bubblewrap would refuse so many arguments. It says what to
 * change.
 */
export function requireFewArguments({ count, argv, view, concealed }: Arguments): void {
  if (count <= ARGUMENTS_MAX) return;
  if (argv.length > count / 2) {
    throw new ProcessStartError(
      `the command has ${argv.length} arguments, and in this sandbox at most ${ARGUMENTS_MAX - (count - argv.length)} are possible. ` +
        'Run it several times with a part of them, or pass them in a file.',
    );
  }
  if (concealed.length > 0) throw tooManyHidden(concealed);
  const { folder, entries } = widest(view);
  throw new ProcessStartError(
    `${folder}: the sandbox would have to mount ${entries} entries of this folder, and too many places together, to protect the ` +
      'symbolic links and protected names in the writable folders. If commands may change them, add this folder to ' +
      '`unprotected_folders` under [sandbox_workspace_write] in the config.toml of your heddle home. Or replace the protected links ' +
      'in it, such as .git, by what they lead to.',
  );
}

/** The folder in which most entries are mounted. */
function widest(view: MountView): { folder: string; entries: number } {
  const counts = new Map<string, number>();
  for (const path of mountedPlaces(view).keys())
    counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  const [folder, entries] = [...counts].reduce(
    (best, one) => (one[1] > best[1] ? one : best),
    ['/', 0],
  );
  return { folder, entries };
}
