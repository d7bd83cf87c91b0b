import { closeSync, ftruncateSync, rmSync, type Stats, writeSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import type { Env } from '../../base/env.ts';
import { openForAppendingSync } from '../../base/files/open-new-file.ts';
import { processTag, TAG_FORM } from '../../base/files/process-tag.ts';
import { textOf } from '../../base/files/text-of.ts';
import { isFolder } from '../../base/paths/is-folder.ts';
import { makeFolderSync } from '../../base/paths/make-folder.ts';
import { realPath } from '../../base/paths/real-path.ts';

const LIST_NAME = new RegExp(`^(${TAG_FORM})\\.guards$`);
/** The list is written anew when it has so many lines more than there are guards. */
const STALE_LINES_MAX = 1000;
const MACHINE_ID_BYTES_MAX = 1024;

/** A guard, as a line of the list. */
export interface ListedGuard {
  path: string;
  /** Device, inode and time of creation of the guard: see `guardIdentity`. */
  identity: string;
  /** The name of the entry by which the process holds the guard. */
  hold: string;
  /** The id of the machine. Null: unknown. */
  machine: string | null;
}

/**
 * Returns the folder in which the servers of this user list their guards, whatever their homes are.
 * Null: there is none. A home folder that does not exist, such as that of a system's user, is not
 * made for it.
 */
export function guardListsFolder({ XDG_STATE_HOME: state, HOME: home }: Env): string | null {
  if (state !== undefined && isAbsolute(state)) return join(state, 'heddle', 'guards');
  return home !== undefined && isAbsolute(home) && isFolder(home)
    ? join(home, '.local', 'state', 'heddle', 'guards')
    : null;
}

/** The tag of the process whose list has this name. Null: it is none. */
export function guardListTag(name: string): string | null {
  return LIST_NAME.exec(name)?.[1] ?? null;
}

/** Returns the id of this machine, which its starts have in common. Null: it has none. */
export function machineId(): string | null {
  return textOf('/etc/machine-id', MACHINE_ID_BYTES_MAX)?.trim() || null;
}

/** What tells a folder from every other one, also from a later one with the same inode. */
export function guardIdentity({ dev, ino, birthtimeMs }: Stats): string {
  return `${dev} ${ino} ${birthtimeMs}`;
}

/**
 * The guards of this process, in a file of its own, so that a later server can remove them if this
 * process is killed. Without a folder, or if it cannot be written, they are not listed: then a kill
 * leaves them.
 */
export class GuardList {
  readonly #folder: string | null;
  readonly #file: string;
  readonly #guards = new Map<string, ListedGuard>();
  #descriptor: number | null = null;
  #lines = 0;
  #machine: { id: string | null } | null = null;

  constructor(folder: string | null) {
    this.#folder = folder;
    this.#file = join(folder ?? '', `${processTag()}.guards`);
  }

  /**
   * Makes the folder of the lists, and returns its real path, which commands must not change.
   * Returns none if it cannot be made.
   */
  places(): string[] {
    if (this.#folder === null) return [];
    try {
      makeFolderSync(this.#folder, 0o700);
    } catch {
      return [];
    }
    const real = realPath(this.#folder);
    return real === null ? [] : [real];
  }

  add(made: Omit<ListedGuard, 'machine'>): void {
    this.#machine ??= { id: machineId() };
    const guard = { ...made, machine: this.#machine.id };
    this.#guards.set(guard.identity, guard);
    if (this.#lines - this.#guards.size < STALE_LINES_MAX) this.#write([guard]);
    else this.#writeAnew();
  }

  delete(identity: string): void {
    this.#guards.delete(identity);
  }

  /** Removes the list, unless guards are left. */
  close(): void {
    if (this.#descriptor === null || this.#guards.size > 0) return;
    closeSync(this.#descriptor);
    this.#descriptor = null;
    this.#lines = 0;
    rmSync(this.#file, { force: true });
  }

  #writeAnew(): void {
    if (this.#descriptor !== null) ftruncateSync(this.#descriptor);
    this.#lines = 0;
    this.#write([...this.#guards.values()]);
  }

  #write(guards: readonly ListedGuard[]): void {
    if (this.#folder === null) return;
    try {
      if (this.#descriptor === null) {
        makeFolderSync(this.#folder, 0o700);
        this.#descriptor = openForAppendingSync(this.#file, 0o600);
      }
      writeSync(this.#descriptor, guards.map((guard) => `${JSON.stringify(guard)}\n`).join(''));
      this.#lines += guards.length;
    } catch {
      // The folder cannot be written: a guard that a kill leaves stays.
    }
  }
}
