import type { SandboxBounds } from '../policy/sandbox-bounds.ts';
import type { PlaceKind, View } from './bubblewrap-mounts.ts';
import { followPath, isWithin, realPath, statOf } from './file-facts.ts';
import type { GuardedPlaces } from './guarded-places.ts';
import { protectHome } from './home-places.ts';
import type { NestedNames } from './nested-names.ts';
import { Places } from './places.ts';
import { protectNamed, protectNames } from './protected-names.ts';

export interface ViewDeps {
  guardedPlaces: GuardedPlaces;
  nestedNames: NestedNames;
}

export interface BuiltView {
  view: View;
  /** Gives back the guards that were taken for it. */
  release(): void;
}

const PLATFORM_FOLDERS = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/etc', '/opt', '/nix', '/run/current-system'];
const PLATFORM_FILES = ['/etc/resolv.conf', '/etc/localtime'];
const PLATFORM_SECRETS = [
  ...['shadow', 'shadow-', 'gshadow', 'gshadow-', 'sudoers', 'sudoers.d', 'krb5.keytab', 'ssl/private', 'ssh', 'wireguard'],
  ...['security/opasswd', 'NetworkManager/system-connections'],
].map((name) => `/etc/${name}`);
/** What of the system root can change without any capability, and bubblewrap leaves so. */
const ROOT_ONLY = ['/proc/sys', '/proc/sysrq-trigger', '/proc/acpi', '/proc/scsi'];
/** Behind these, in `/run` and in the user's folder below it, are programs that start others, outside, for whoever asks. */
const CONTROL_SOCKETS = [
  ...['docker.sock', 'containerd/containerd.sock', 'podman/podman.sock', 'crio/crio.sock'],
  ...['dbus/system_bus_socket', 'bus', 'systemd/private'],
];
/** The sandbox has its own. */
const KERNEL_FOLDERS = ['/proc', '/dev', '/sys'];

/** What a command within these bounds is to see, as the file system is now. */
export async function sandboxView(bounds: SandboxBounds, { guardedPlaces, nestedNames }: ViewDeps): Promise<BuiltView> {
  const { readable, writableRoots } = bounds;
  const places = new Places(guardedPlaces);
  if (readable !== 'everything') {
    const platform = readable.platformDefaults ? [...PLATFORM_FOLDERS, ...PLATFORM_FILES] : [];
    for (const root of [...readable.roots, ...platform]) show(root, 'read', places);
  }
  const roots = [...new Set(writableRoots.flatMap((root) => show(root, 'write', places) ?? []))];
  const nested = (await Promise.all(roots.map((root) => nestedNames.find(root)))).flat();
  try {
    keepOff({ bounds, roots, nested, places });
  } catch (error) {
    places.releaseGuards();
    throw error;
  }
  const view = { everything: readable === 'everything', places: places.kinds, links: places.links, system: systemPlaces(bounds, roots) };
  return { view, release: () => places.releaseGuards() };
}

interface Keeping {
  bounds: SandboxBounds;
  roots: readonly string[];
  nested: readonly string[];
  places: Places;
}

/** Takes out of what was shown what is not to be changed or seen. */
function keepOff({ bounds: { home, workspace, readable }, roots, nested, places }: Keeping): void {
  for (const root of roots) protectNames(root, places);
  const realHome = realPath(home) ?? home;
  for (const path of nested) if (statOf(path) !== null && !isWithin(path, realHome)) protectNamed(path, places);
  const work = workspace.flatMap((folder) => realPath(folder) ?? []);
  protectHome({ home, workspace: work, everything: readable === 'everything' }, places);
}

/** The real path, where there is one to show. */
function show(path: string, kind: 'read' | 'write', places: Places): string | null {
  const real = realPath(path);
  if (real === null || KERNEL_FOLDERS.some((folder) => isWithin(real, folder))) return null;
  places.show(real, kind);
  for (const { link, target } of followPath(path).links) places.links.set(link, target);
  return real;
}

function systemPlaces(bounds: SandboxBounds, roots: readonly string[]): Map<string, PlaceKind> {
  const user = statOf('/proc/self')?.uid ?? 0;
  const kept = [...(user === 0 ? ROOT_ONLY : []), ...(roots.includes('/') ? ['/sys'] : [])];
  const system = new Map<string, PlaceKind>();
  for (const path of kept) if (statOf(path) !== null) system.set(path, 'read');
  for (const path of systemSecrets(bounds, user)) {
    const stat = statOf(path);
    if (stat !== null && !stat.isSymbolicLink()) system.set(path, stat.isDirectory() ? 'empty' : 'nothing');
  }
  return system;
}

function systemSecrets({ readable, network }: SandboxBounds, user: number): readonly string[] {
  if (readable !== 'everything') return readable.platformDefaults ? PLATFORM_SECRETS : [];
  return network ? ['/run', `/run/user/${user}`].flatMap((folder) => CONTROL_SOCKETS.map((name) => `${folder}/${name}`)) : [];
}
