import { randomUUID } from 'node:crypto';
import { closeSync, existsSync } from 'node:fs';
import { ownUser, readProcLink } from '../../base/files/read-proc.ts';
import { Once } from '../../base/loading/once.ts';
import { runToEnd } from '../../base/processes/spawn-program.ts';
import type { HiddenPlace } from '../places/view-places.ts';
import { type MountKind, type MountView, mountedPlaces } from './bubblewrap-mounts.ts';
import { makeUnnamedFile } from './make-unnamed-file.ts';

/**
 * The mounts that hide many places. They are made before bubblewrap, and are in the tree that it
 * then shows.
 */
export interface FirstMounts {
  /** The view without them. */
  view: MountView;
  /** The mounts, in the format of fstab. */
  table: string;
}

/** How `mount` is started before bubblewrap. */
export interface MountFirst {
  /** The arguments to put before bubblewrap. */
  before: readonly string[];
  /**
   * Options of bubblewrap that give the command the user of the server, and only the variables that
   * further options set.
   */
  options: readonly string[];
}

/**
 * For each of its mounts, bubblewrap reads the list of all mounts again. Up to this number, that
 * takes milliseconds.
 */
const HIDDEN_BY_BUBBLEWRAP_MAX = 100;
/** The descriptor of the table. */
export const TABLE_FD = 4;
const MOUNT_PLACES = ['/usr/bin/mount', '/bin/mount', '/run/current-system/sw/bin/mount'];
const CHECK_MS_MAX = 10_000;

/**
 * Makes all mounts of the table, or runs nothing: `mount` ends with 0 after a line that it cannot
 * read, but warns of it. Its environment is not the command's, of which it would read some
 * variables.
 */
const SCRIPT = `problem=$(/usr/bin/env -i "$1" -a -c -i -n -T /proc/self/fd/${TABLE_FD} 2>&1 </dev/null) && [ -z "$problem" ] || {
printf '%s\\n' "heddle: the files that must be hidden could not be hidden, so the command was not run: $problem" >&2; exit 125; }
shift; exec "$@" ${TABLE_FD}<&-`;

/**
 * Returns the mounts that `mount` makes faster than bubblewrap. Returns null if there are few.
 * `concealed`: the hidden places of the view.
 */
export function firstMounts(
  view: MountView,
  concealed: readonly HiddenPlace[],
): FirstMounts | null {
  if (concealed.length <= HIDDEN_BY_BUBBLEWRAP_MAX) return null;
  const hidden = new Set(concealed.map(({ path }) => path));
  const others = [...view.places].filter(
    ([path, kind]) => !hidden.has(path) || (kind !== 'empty' && kind !== 'nothing'),
  );
  const rest = { ...view, places: new Map(others) };
  const left = mountedPlaces(rest);
  const first = [...mountedPlaces(view)]
    .filter(([path]) => !left.has(path))
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return { view: rest, table: first.map(([path, kind]) => tableLine(path, kind)).join('') };
}

/**
 * Finds out once how to make the mounts of a table before bubblewrap. Null: this system does not
 * allow it, or not now.
 */
export function checkedMountFirst(
  bubblewrap: () => string | null,
  home: string,
): Once<MountFirst | null> {
  const checked = new Once(async () => {
    const program = bubblewrap();
    const first = program === null ? null : mountFirst(program);
    if (program !== null && first !== null && (await isAllowed(program, first, home))) return first;
    checked.forget();
    return null;
  });
  return checked;
}

/**
 * The mounts are made in a namespace around bubblewrap's own, in which the server's user is root.
 * Returns null if `mount` is not installed. The process must inherit the table as `TABLE_FD`.
 */
function mountFirst(bubblewrap: string): MountFirst | null {
  const program = MOUNT_PLACES.find((path) => existsSync(path));
  const user = ownUser();
  if (program === undefined || user === null) return null;
  const namespace = [
    '--unshare-user',
    '--uid',
    '0',
    '--gid',
    '0',
    '--cap-add',
    'ALL',
    '--die-with-parent',
    '--dev-bind',
    '/',
    '/',
  ];
  return {
    before: [bubblewrap, ...namespace, '--', '/bin/sh', '-c', SCRIPT, 'heddle', program],
    // A shell changes variables such as IFS, and leaves out those whose names it does not know.
    options: ['--uid', String(user.uid), '--gid', String(user.gid), '--clearenv'],
  };
}

/**
 * Whether this system allows mounts, and bubblewrap in the namespace of another. `home`: for the
 * table, see `makeUnnamedFile`.
 */
async function isAllowed(
  bubblewrap: string,
  { before, options }: MountFirst,
  home: string,
): Promise<boolean> {
  const inner = [
    bubblewrap,
    '--unshare-user',
    '--disable-userns',
    '--unshare-pid',
    ...options,
    '--ro-bind',
    '/',
    '/',
    '--proc',
    '/proc',
  ];
  const table = makeUnnamedFile(home, Buffer.from(tableLine('/dev/shm', 'empty')));
  const script = `exec "$@" ${TABLE_FD}</proc/${readProcLink('/proc/self')}/fd/${table}`;
  const argv = ['-c', script, 'heddle', ...before, ...inner, '--', 'true'];
  try {
    await runToEnd('/bin/sh', argv, { env: { PATH: '/usr/bin:/bin' }, timeout: CHECK_MS_MAX });
    return true;
  } catch (error) {
    if (error instanceof Error && 'stderr' in error) return false;
    throw error;
  } finally {
    closeSync(table);
  }
}

function tableLine(path: string, kind: MountKind): string {
  const target = escaped(path);
  switch (kind) {
    case 'nothing':
      return `/dev/null ${target} none bind 0 0\n`;
    case 'empty':
    case 'bare':
      // `mount` would skip what is mounted already: a folder in memory that has the same source.
      return `heddle-${randomUUID()} ${target} tmpfs ro,mode=0555 0 0\n`;
    case 'read':
    case 'write':
      // The system does not allow to bind a folder without the mounts in it.
      return `${target} ${target} none rbind 0 0\n`;
    default:
      return kind satisfies never;
  }
}

/** `mount` would skip a line that it cannot read. So all bytes but the plainest are escaped. */
function escaped(path: string): string {
  const bytes = [...Buffer.from(path)];
  return bytes
    .map((byte) =>
      /[\w./-]/.test(String.fromCharCode(byte)) ? String.fromCharCode(byte) : octal(byte),
    )
    .join('');
}

function octal(byte: number): string {
  return `\\${byte.toString(8).padStart(3, '0')}`;
}
