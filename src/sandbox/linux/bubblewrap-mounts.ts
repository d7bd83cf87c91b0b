import { dirname } from 'node:path';

/**
 * How a path appears in the sandbox. `write` and `read` show the file or folder from outside.
 * `bare` is a read-only folder that contains only the mounts below it. `empty` is an empty
 * read-only folder. `nothing` is a file that cannot be opened.
 */
export type MountKind = 'write' | 'read' | 'bare' | 'empty' | 'nothing';

/**
 * The file system as a sandbox shows it. All paths are absolute. Except in `links`, they contain no
 * symbolic links.
 */
export interface MountView {
  /**
   * Whether everything outside `places` can be read. If false, nothing outside `places` is visible.
   */
  everything: boolean;
  /**
   * Whether `/proc` is read-only. Root could change the kernel's settings there without any
   * capability.
   */
  readOnlyProc: boolean;
  places: ReadonlyMap<string, MountKind>;
  /**
   * Writable places, and folders above places, that are not mounted: a writable place above them
   * shows them.
   */
  needless: ReadonlySet<string>;
  /**
   * Targets of symbolic links, by path. They are created in folders that show nothing from outside.
   */
  links: ReadonlyMap<string, string>;
  /** Paths of the system itself, such as those in /proc. */
  system: ReadonlyMap<string, MountKind>;
}

const EMPTY_FOLDER_PERMS = '0555';

/**
 * Returns the arguments of bubblewrap for a view. Each path is a separate argument that begins with
 * a slash.
 */
export function bubblewrapMounts(view: MountView): string[] {
  const { everything, places, links, system } = view;
  const root = places.get('/') ?? (everything ? 'read' : 'bare');
  const all = new Map<string, MountKind>([...system, ...mountedPlaces(view)]);
  all.delete('/');
  const paths = [...all.keys()].sort();
  const kindOf = (path: string) => nearestKind(path, all) ?? root;
  return [
    ...(root === 'bare' ? [] : mount('/', root)),
    ...['--dev', '/dev', '--proc', '/proc'],
    ...(view.readOnlyProc ? ['--remount-ro', '/proc'] : []),
    ...paths.flatMap((path) => mount(path, all.get(path) ?? 'read')),
    ...[...links]
      .filter(([path]) => kindOf(dirname(path)) === 'bare')
      .flatMap(([path, target]) => ['--symlink', target, path]),
    ...paths.filter((path) => isOwn(all.get(path))).flatMap((path) => ['--remount-ro', path]),
    ...(root === 'bare' ? ['--remount-ro', '/'] : []),
  ];
}

/**
 * Returns the kind of the path itself, or of the nearest folder above it that has one. Returns
 * undefined if none has.
 */
export function nearestKind(
  path: string,
  places: ReadonlyMap<string, MountKind>,
): MountKind | undefined {
  for (let above = path; ; above = dirname(above)) {
    const kind = places.get(above);
    if (kind !== undefined || above === '/') return kind;
  }
}

/**
 * With `-try`, bubblewrap skips a path that was removed in the meantime, so the command does not
 * fail.
 */
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

/** Whether the kind shows nothing from outside. */
function isOwn(kind: MountKind | undefined): boolean {
  return kind === 'bare' || kind === 'empty';
}

/**
 * Returns the places of a view, and the folders between a writable place and the places below it.
 * As mount points, they cannot be renamed or removed. Otherwise a command could move a place away
 * and create it again without its restrictions.
 */
export function mountedPlaces({
  places,
  needless,
}: Pick<MountView, 'places' | 'needless'>): Map<string, MountKind> {
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
  for (const path of needless) all.delete(path);
  return all;
}
