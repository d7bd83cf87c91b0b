import { dirname } from 'node:path';

/**
 * What a place is inside: `write` and `read` show what is there outside; `bare` is a read-only folder in which only
 * what is mounted below it is found; `empty` is one without anything, `nothing` a file that cannot be opened.
 */
export type MountKind = 'write' | 'read' | 'bare' | 'empty' | 'nothing';

/** What a sandbox shows of the file system. All paths are absolute, and but for `links` without a symbolic link on their way. */
export interface MountView {
  /** Whether everything can be read that no place says otherwise of; else only the places are there. */
  everything: boolean;
  places: ReadonlyMap<string, MountKind>;
  /** Symbolic links to make where their folder shows nothing from outside: their targets by their paths. */
  links: ReadonlyMap<string, string>;
  /** Places of the system itself, such as those in /proc. */
  system: ReadonlyMap<string, MountKind>;
}

const EMPTY_FOLDER_PERMS = '0555';

/** The arguments of bubblewrap that make a view. Each path is an argument of its own that begins with a slash. */
export function bubblewrapMounts({ everything, places, links, system }: MountView): string[] {
  const root = places.get('/') ?? (everything ? 'read' : 'bare');
  const all = new Map<string, MountKind>([...system, ...pinned(places)]);
  all.delete('/');
  const paths = [...all.keys()].sort();
  const kindOf = (path: string) => nearestKind(path, all) ?? root;
  return [
    ...(root === 'bare' ? [] : mount('/', root)),
    ...['--dev', '/dev', '--proc', '/proc'],
    ...paths.flatMap((path) => mount(path, all.get(path) ?? 'read')),
    ...[...links].filter(([path]) => kindOf(dirname(path)) === 'bare').flatMap(([path, target]) => ['--symlink', target, path]),
    ...paths.filter((path) => isOwn(all.get(path))).flatMap((path) => ['--remount-ro', path]),
    ...(root === 'bare' ? ['--remount-ro', '/'] : []),
  ];
}

/** What a path is inside: as the nearest place above it, or itself. Undefined where there is none. */
export function nearestKind(path: string, places: ReadonlyMap<string, MountKind>): MountKind | undefined {
  for (let above = path; ; above = dirname(above)) {
    const kind = places.get(above);
    if (kind !== undefined || above === '/') return kind;
  }
}

/** With `-try`: a path that was removed since it was looked at is left out, so that no command fails over it. */
function mount(path: string, kind: MountKind): string[] {
  switch (kind) {
    case 'write':
      return ['--bind-try', path, path];
    case 'read':
      return ['--ro-bind-try', path, path];
    case 'bare':
    case 'empty':
      return ['--perms', EMPTY_FOLDER_PERMS, '--tmpfs', path];
    case 'nothing':
      return ['--ro-bind', '/dev/null', path];
    default:
      return kind satisfies never;
  }
}

/** Whether it shows nothing from outside. */
function isOwn(kind: MountKind | undefined): boolean {
  return kind === 'bare' || kind === 'empty';
}

/**
 * With the folders between a writable place and the places below it: as mount points of their own they cannot be renamed or
 * removed, else a place below could be moved away and made anew without its bounds.
 */
function pinned(places: ReadonlyMap<string, MountKind>): Map<string, MountKind> {
  const all = new Map(places);
  for (const path of places.keys()) {
    const between: string[] = [];
    let above = path;
    do {
      above = dirname(above);
      if (places.has(above)) break;
      between.push(above);
    } while (above !== '/');
    if (places.get(above) === 'write') for (const folder of between) all.set(folder, 'write');
  }
  return all;
}
