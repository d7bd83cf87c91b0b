import { lstatSync, readlinkSync, realpathSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { hasErrorCode } from '../base/error-code.ts';
import { PROTECTED_NAMES, type SandboxBounds } from '../policy/sandbox-bounds.ts';
import type { PlaceKind, View } from './bubblewrap-mounts.ts';
import type { GuardedPlaces } from './guarded-places.ts';

/** What of the home a command may read: all else in it is absent. */
const HOME_READABLE = ['config.toml', 'AGENTS.md', 'AGENTS.override.md', 'skills', 'rules', 'prompts'];
/** What a home that is itself a writable root keeps: not to be changed, */
const HOME_KEPT = ['config.toml', 'rules', 'AGENTS.md', 'AGENTS.override.md', 'skills', 'log', 'logs'];
/** and not to be seen. */
const HOME_SECRET_FILES = ['auth.json', 'heddle.db', 'heddle.db-wal', 'heddle.db-shm', 'history.jsonl'];
const HOME_SECRET_FOLDERS = ['heddle-writers', 'sessions', 'archived_sessions'];

const PLATFORM_FOLDERS = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/etc', '/opt', '/nix', '/run/current-system'];
const SYSTEM_SECRET_FILES = ['shadow', 'shadow-', 'gshadow', 'gshadow-', 'sudoers', 'krb5.keytab'].map((name) => `/etc/${name}`);
const SYSTEM_SECRET_FOLDERS = ['/etc/sudoers.d', '/etc/ssl/private', '/etc/ssh', '/etc/wireguard'];
/** bubblewrap leaves these writable, or readable, for root. */
const PROC_KEPT = ['sys', 'sysrq-trigger', 'irq', 'bus', 'fs', 'acpi', 'scsi'].map((name) => `/proc/${name}`);
const PROC_SECRET = ['kcore', 'keys', 'kmsg', 'kallsyms', 'sched_debug'].map((name) => `/proc/${name}`);
/** The sandbox has its own. */
const KERNEL_FOLDERS = ['/proc', '/dev', '/sys'];

export interface BuiltView {
  view: View;
  /** Guards taken for it, to be released. */
  guards: string[];
}

/** What a command within these bounds is to see. Looks at the file system as it is now. */
export function sandboxView(bounds: SandboxBounds, guardedPlaces: GuardedPlaces): BuiltView {
  const building = new Building(guardedPlaces);
  try {
    return { view: building.build(bounds), guards: building.guards };
  } catch (error) {
    for (const guard of building.guards) guardedPlaces.release(guard);
    throw error;
  }
}

class Building {
  readonly guards: string[] = [];
  readonly #places = new Map<string, PlaceKind>();
  readonly #links = new Map<string, string>();
  readonly #system = new Map<string, PlaceKind>();
  readonly #guardedPlaces: GuardedPlaces;

  constructor(guardedPlaces: GuardedPlaces) {
    this.#guardedPlaces = guardedPlaces;
  }

  build({ readable, writableRoots, home }: SandboxBounds): View {
    const everything = readable === 'everything';
    if (!everything) {
      for (const root of readable.roots) this.#show(root, 'read');
      if (readable.platformDefaults) this.#showPlatform();
    }
    const roots = writableRoots.flatMap((root) => this.#show(root, 'write'));
    for (const root of roots) this.#protectNames(root);
    this.#protectHome(home, everything);
    for (const path of PROC_KEPT) if (statOf(path) !== null) this.#system.set(path, 'read');
    for (const path of PROC_SECRET) if (statOf(path) !== null) this.#system.set(path, 'nothing');
    return { everything, places: this.#places, links: this.#links, system: this.#system };
  }

  /** The real path, where there is one. */
  #show(path: string, kind: 'read' | 'write'): string[] {
    const real = realPath(path);
    if (real === null || KERNEL_FOLDERS.some((folder) => isWithin(real, folder) && !isWithin(real, '/dev/shm'))) return [];
    if (this.#places.get(real) !== 'write') this.#places.set(real, kind);
    for (const [link, target] of linksOn(path)) this.#links.set(link, target);
    return [real];
  }

  #showPlatform(): void {
    for (const folder of PLATFORM_FOLDERS) this.#show(folder, 'read');
    for (const file of SYSTEM_SECRET_FILES) if (statOf(file) !== null) this.#system.set(file, 'nothing');
    for (const folder of SYSTEM_SECRET_FOLDERS) if (statOf(folder) !== null) this.#system.set(folder, 'empty');
    this.#show('/etc/resolv.conf', 'read');
  }

  #protectNames(root: string): void {
    if (statOf(root)?.isDirectory() !== true) return;
    for (const name of PROTECTED_NAMES) this.#protect(join(root, name));
  }

  /** Nothing that is, or could come to be, at this path can be changed. */
  #protect(path: string): void {
    if (this.#places.has(path)) return;
    const stat = statOf(path);
    if (stat === null || (stat.isDirectory() && this.#guardedPlaces.isGuard(path))) {
      if (!this.#guardedPlaces.take(path)) return;
      this.guards.push(path);
      this.#places.set(path, 'empty');
    } else if (!stat.isSymbolicLink()) this.#places.set(path, 'read');
  }

  #protectHome(home: string, everything: boolean): void {
    const real = realPath(home);
    if (real === null) return;
    if (this.#places.get(real) === 'write') {
      for (const name of HOME_KEPT) this.#protect(join(real, name));
      for (const name of HOME_SECRET_FILES) this.#hide(join(real, name), 'nothing');
      for (const name of HOME_SECRET_FOLDERS) this.#hide(join(real, name), 'empty');
      return;
    }
    if (!everything && ![...this.#places.keys()].some((place) => isWithin(real, place))) return;
    this.#places.set(real, 'home');
    for (const name of HOME_READABLE) if (statOf(join(real, name)) !== null) this.#show(join(real, name), 'read');
  }

  #hide(path: string, kind: 'empty' | 'nothing'): void {
    if (statOf(path) === null) this.#protect(path);
    else this.#places.set(path, kind);
  }
}

/** Whether a path is a folder or lies below it. */
export function isWithin(path: string, folder: string): boolean {
  return folder === '/' || path === folder || path.startsWith(`${folder}/`);
}

/** The symbolic links on the way to a path, with their targets. */
function linksOn(path: string): [string, string][] {
  const found: [string, string][] = [];
  for (let above = path; above !== '/'; above = dirname(above)) {
    if (statOf(above)?.isSymbolicLink() === true)
      found.push([join(realPath(dirname(above)) ?? dirname(above), above.slice(above.lastIndexOf('/') + 1)), readlinkSync(above)]);
  }
  return found;
}

function realPath(path: string): string | null {
  return unlessGone(() => realpathSync.native(path));
}

function statOf(path: string): Stats | null {
  return unlessGone(() => lstatSync(path));
}

function unlessGone<T>(look: () => T): T | null {
  try {
    return look();
  } catch (error) {
    if (hasErrorCode(error, ['ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP'])) return null;
    throw error;
  }
}
