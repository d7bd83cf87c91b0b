import { dirname } from 'node:path';

/**
 * What a place is inside: `write` and `read` show what is there outside; `home` is an empty read-only folder in which only
 * what is mounted below it is found; `empty` is one without anything, `nothing` a file that cannot be opened.
 */
export type PlaceKind = 'write' | 'read' | 'home' | 'empty' | 'nothing';

/** What a sandbox shows of the file system. All paths are absolute, and but for `links` without a symbolic link on their way. */
export interface View {
  /** Whether everything can be read that no place says otherwise of; else only the places are there. */
  everything: boolean;
  places: ReadonlyMap<string, PlaceKind>;
  /** Symbolic links that have to be there where not everything can be read: their targets by their paths. */
  links: ReadonlyMap<string, string>;
  /** Places of the system itself, such as those in /proc. */
  system: ReadonlyMap<string, PlaceKind>;
}

const EMPTY_FOLDER_PERMS = '0555';

/** The arguments of bubblewrap that make a view. Each path is an argument of its own that begins with a slash. */
export function bubblewrapMounts({ everything, places, links, system }: View): string[] {
  const all = new Map<string, PlaceKind>([...system, ...pinned(places)]);
  const paths = [...all.keys()].sort();
  const args = everything && all.get('/') === undefined ? ['--ro-bind', '/', '/'] : [];
  const late = everything ? [] : [...links].flatMap(([path, target]) => ['--symlink', target, path]);
  for (const path of paths.filter((one) => one === '/')) args.push(...mount(path, all.get(path) ?? 'read'));
  args.push('--dev', '/dev', '--proc', '/proc');
  for (const path of paths.filter((one) => one !== '/')) args.push(...mount(path, all.get(path) ?? 'read'));
  args.push(...late);
  for (const path of paths) if (isTemporary(all.get(path))) args.push('--remount-ro', path);
  if (!everything && !all.has('/')) args.push('--remount-ro', '/');
  return args;
}

function mount(path: string, kind: PlaceKind): string[] {
  switch (kind) {
    case 'write':
      return ['--bind', path, path];
    case 'read':
      return ['--ro-bind', path, path];
    case 'home':
    case 'empty':
      return ['--perms', EMPTY_FOLDER_PERMS, '--tmpfs', path];
    case 'nothing':
      return ['--ro-bind', '/dev/null', path];
    default:
      return kind satisfies never;
  }
}

function isTemporary(kind: PlaceKind | undefined): boolean {
  return kind === 'home' || kind === 'empty';
}

/**
 * With the folders between a writable place and the places below it: as mount points of their own they cannot be renamed or
 * removed, else a place below could be moved away and made anew without its bounds.
 */
function pinned(places: ReadonlyMap<string, PlaceKind>): Map<string, PlaceKind> {
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
