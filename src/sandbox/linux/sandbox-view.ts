import { dirname } from 'node:path';
import { EventLoopYield } from '../../base/event-loop-yield.ts';
import { hiddenSecrets, hiddenSockets } from '../../base/files/hidden-sockets.ts';
import { ownUser } from '../../base/files/read-proc.ts';
import { inSlices } from '../../base/in-slices.ts';
import { followPath, resolveLinks } from '../../base/paths/follow-path.ts';
import { isWithin } from '../../base/paths/is-within.ts';
import { realPath } from '../../base/paths/real-path.ts';
import { statOf } from '../../base/paths/stat-of.ts';
import type { SandboxBounds } from '../../policy/permissions/sandbox-bounds.ts';
import { findHidden } from '../places/find-hidden.ts';
import type { GuardedPlaces } from '../places/guarded-places.ts';
import type { NestedPlace } from '../places/join-places.ts';
import { KERNEL_FOLDERS } from '../places/kernel-folders.ts';
import { linksToRoots } from '../places/links-to-roots.ts';
import type { NestedNames } from '../places/nested-names.ts';
import { protectHome } from '../places/protect-home.ts';
import { protectNames } from '../places/protect-names.ts';
import { protectPrograms } from '../places/protect-programs.ts';
import { realBounds } from '../places/real-bounds.ts';
import { type HiddenPlace, ViewPlaces } from '../places/view-places.ts';
import type { KnownFile, ServerPrograms } from '../server-programs/server-programs.ts';
import { type MountKind, type MountView, mountedPlaces } from './bubblewrap-mounts.ts';
import type { RunningViews } from './running-views.ts';

export interface ViewDeps {
  guardedPlaces: GuardedPlaces;
  nestedNames: NestedNames;
  runningViews: RunningViews;
  /** The files and folders that the server itself runs from. */
  serverPlaces: readonly string[];
  /** The programs that the server starts outside the sandbox. */
  serverPrograms: ServerPrograms;
  /** The system's folders for everyone's temporary files. Real paths. */
  sharedFolders: readonly string[];
  /** The user's home folder, which `~` means in a git configuration. Null: unknown. */
  userHome: string | null;
}

export interface BuiltView {
  view: MountView;
  /** The writable places that must be compared with handles after they are mounted. */
  unsure: readonly string[];
  /** For each path of the bounds that is left out, the link in it that is not followed. */
  notFollowed: ReadonlyMap<string, string>;
  /**
   * Folders that are read-only as a whole, because protecting the links in them needs too many
   * mounts.
   */
  closed: readonly string[];
  /** Links that stay, because only they lead to what is hidden. */
  heldLinks: readonly string[];
  /** What is hidden because of a pattern. */
  concealed: readonly HiddenPlace[];
  /** The files of the programs that the server starts outside the sandbox. */
  programFiles: readonly KnownFile[];
  /**
   * Ends the command's view, and releases the guards and walks that it uses. `moreFollow` is that
   * of `Confinement.release`.
   */
  release(moreFollow?: boolean): Promise<void>;
}

/** The work of protecting a path, in the units of `EventLoopYield`. */
const PROTECT_WORK = 100;
const PLATFORM_FOLDERS = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/etc',
  '/opt',
  '/nix',
  '/run/current-system',
];
const PLATFORM_FILES = ['/etc/resolv.conf', '/etc/localtime'];
const PLATFORM_SECRETS = [
  ...[
    'shadow',
    'shadow-',
    'gshadow',
    'gshadow-',
    'sudoers',
    'sudoers.d',
    'krb5.keytab',
    'ssl/private',
    'ssh',
    'wireguard',
  ],
  ...['security/opasswd', 'NetworkManager/system-connections'],
].map((name) => `/etc/${name}`);
/**
 * Sockets in `/run` and in the user's folder below it. The programs behind them start programs
 * outside the sandbox on request.
 */
const CONTROL_SOCKETS = [
  ...['docker.sock', 'containerd/containerd.sock', 'podman/podman.sock', 'crio/crio.sock'],
  ...['dbus/system_bus_socket', 'bus', 'systemd/private'],
];

/**
 * Builds the view of a command with these bounds, from the current state of the file system.
 * `isRun`: false if only the paths of the view matter. Then it does not have the files of programs
 * that the server starts: `programFiles` are protected beside it.
 */
export async function sandboxView(
  named: SandboxBounds,
  deps: ViewDeps,
  { isRun = true } = {},
): Promise<BuiltView> {
  const {
    guardedPlaces,
    nestedNames,
    runningViews,
    serverPlaces,
    serverPrograms,
    sharedFolders,
    userHome,
  } = deps;
  const programFiles = await serverPrograms.files();
  const { bounds, links, notFollowed } = realBounds(named, deps.runningViews.reached);
  const { readable, writableRoots } = bounds;
  const places = new ViewPlaces(guardedPlaces);
  for (const [link, target] of links) places.links.set(link, target);
  if (readable !== 'everything') {
    for (const root of readable.roots) if (isShown(root)) places.show(root, 'read');
    if (readable.platformDefaults)
      for (const path of [...PLATFORM_FOLDERS, ...PLATFORM_FILES]) showPlatform(path, places);
  }
  const isServers = (path: string) => serverPlaces.some((place) => isWithin(path, place));
  const roots = writableRoots.filter((root) => isShown(root) && !isServers(root));
  for (const root of roots) places.show(root, 'write');
  const { nested, release } = await nestedNames.hold(roots, {
    unprotected: bounds.unprotected,
    shared: sharedFolders,
    userHome,
  });
  try {
    places.protectLinks(named.home);
    await applyProtections({ bounds, roots, nested, places, serverPlaces, userHome });
    if (isRun) await protectFiles(programFiles, { places, bounds, serverPrograms });
    await hideFiles(bounds, named, places);
  } catch (error) {
    release();
    await places.releaseGuards();
    throw error;
  }
  runningViews.share(places.kinds);
  const { needless, needed } = runningViews.risksOf(
    mountedPlaces({ places: places.kinds, needless: new Set() }),
    roots,
  );
  const view = {
    readOnlyProc: ownUser()?.uid === 0,
    everything: readable === 'everything',
    places: places.kinds,
    needless,
    links: places.links,
    system: systemPlaces(bounds, roots),
  };
  const end = runningViews.add({ roots, mounted: mountedPlaces(view) });
  return {
    view,
    unsure: needed,
    notFollowed,
    closed: places.closed,
    heldLinks: places.heldLinks,
    concealed: places.concealed,
    programFiles,
    async release(moreFollow) {
      end();
      release();
      await places.releaseGuards(moreFollow);
    },
  };
}

interface ProtectionOptions extends Pick<ViewDeps, 'serverPlaces' | 'userHome'> {
  bounds: SandboxBounds;
  roots: readonly string[];
  nested: readonly NestedPlace[];
  places: ViewPlaces;
}

/** Protects or hides the paths that the command must not change or see. */
async function applyProtections({
  bounds,
  roots,
  nested,
  places,
  serverPlaces,
  userHome,
}: ProtectionOptions): Promise<void> {
  const { home, workspace, readable, profileFiles = [] } = bounds;
  const loop = new EventLoopYield();
  for (const root of roots) {
    await protectNames(root, places, { userHome, loop });
  }
  // These paths are real, and commands cannot put links in them.
  for (const path of serverPlaces) if (places.kindOf(path) === 'write') places.protect(path);
  // In one order, so that the same folders are read-only as a whole for every command.
  const inOrder = [...nested].sort((one, other) => (one.path < other.path ? -1 : 1));
  for await (const { path, reason } of inSlices(
    inOrder,
    ({ path }) => PROTECT_WORK + path.length,
    loop,
  ))
    if (isStillThere(reason)) places.protect(path);
  await protectHome(
    { home, workspace, everything: readable === 'everything', profileFiles },
    places,
    loop,
  );
}

/**
 * Hides what matches a pattern now, whatever else shows it. `named`: the bounds before their links
 * were resolved.
 */
async function hideFiles(
  { hidden = [], readable }: SandboxBounds,
  named: SandboxBounds,
  places: ViewPlaces,
): Promise<void> {
  for (const link of linksToRoots(named)) places.holdLink(link);
  await places.conceal(await findHidden(hidden), readable === 'everything');
}

async function protectFiles(
  files: readonly KnownFile[],
  {
    places,
    bounds,
    serverPrograms,
  }: { places: ViewPlaces; bounds: SandboxBounds; serverPrograms: ServerPrograms },
): Promise<void> {
  const open = await protectPrograms(files, {
    places,
    unprotected: bounds.unprotected.map(resolveLinks),
    loop: new EventLoopYield(),
  });
  for (const { file, isEndOpen } of open)
    serverPrograms.expose(file, { isEndOpen, isGuard: (path) => places.isGuard(path) });
}

/** Whether the path exists and no folder in it has become a link, which the mount would follow. */
function isStillThere(path: string): boolean {
  return statOf(path) !== null && realPath(dirname(path)) === dirname(path);
}

/** Whether the path exists, contains no links, and is not in a folder of the kernel. */
function isShown(path: string): boolean {
  return realPath(path) === path && !KERNEL_FOLDERS.some((folder) => isWithin(path, folder));
}

function showPlatform(path: string, places: ViewPlaces): void {
  const real = realPath(path);
  if (real === null || !isShown(real)) return;
  places.show(real, 'read');
  for (const { link, target } of followPath(path).links) places.links.set(link, target);
}

function systemPlaces(bounds: SandboxBounds, roots: readonly string[]): Map<string, MountKind> {
  const user = ownUser()?.uid ?? 0;
  const kept = roots.includes('/') ? ['/sys'] : [];
  const system = new Map<string, MountKind>();
  for (const path of kept) if (statOf(path) !== null) system.set(path, 'read');
  for (const path of systemSecrets(bounds, user)) {
    const stat = statOf(path);
    if (stat !== null && !stat.isSymbolicLink())
      system.set(path, stat.isDirectory() ? 'empty' : 'nothing');
  }
  return system;
}

function systemSecrets({ readable, unixSockets }: SandboxBounds, user: number): readonly string[] {
  const platform = readable !== 'everything' && readable.platformDefaults ? PLATFORM_SECRETS : [];
  const folders = unixSockets ? ['/run', `/run/user/${user}`] : [];
  return [
    ...platform,
    ...folders.flatMap((folder) => CONTROL_SOCKETS.map((name) => `${folder}/${name}`)),
    ...hiddenSockets(),
    ...hiddenSecrets(),
  ];
}
