import { type FSWatcher, type Stats, watch } from 'node:fs';
import { lstat, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { hasErrorCode } from '../base/system-error-code.ts';
import { fileFailed } from '../protocol/errors/file-errors.ts';
import { fileFailure } from './file-failure.ts';

/**
 * How often the watchers are set up again because the folders changed meanwhile. After that the
 * next change does it.
 */
const TRIES_MAX = 5;
/** The system or this process has reached its limit of watches. */
const EXHAUSTED = ['ENOSPC', 'EMFILE', 'ENFILE'];

/**
 * A folder that the system watches, and the meaning of a change of its entry `name`; of any entry
 * if `name` is null.
 */
interface WatchedFolder {
  path: string;
  name: string | null;
  means: 'changed' | 'look again';
}

export interface PathWatchEvents {
  /** Called with the watched path, or with the path of an entry in it. */
  onChange: (path: string) => void;
  /** Called if the path can no longer be followed. Later changes may be missed. */
  onLost: (error: unknown) => void;
}

/**
 * Watches a path. Watches the path's folder, so that the path may appear, disappear and be
 * replaced; the path itself if it is a folder; the target's folder if it is a link; and, while the
 * path's folder is missing, the nearest folder above.
 */
export class PathWatch {
  readonly #path: string;
  readonly #events: PathWatchEvents;
  #watchers: FSWatcher[] = [];
  #seen: string | null = null;
  #following = false;
  #moved = false;
  #changed = false;
  #closed = false;

  private constructor(path: string, events: PathWatchEvents) {
    this.#path = path;
    this.#events = events;
  }

  /**
   * Resolves once no later change can be missed. `path` is absolute and normalized. Rejects with an
   * error for clients.
   */
  static async start(path: string, events: PathWatchEvents): Promise<PathWatch> {
    const started = new PathWatch(path, events);
    try {
      await started.#follow();
    } catch (error) {
      started.close();
      throw watchFailure(error, path);
    }
    started.#seen = await fingerprint(path);
    return started;
  }

  close(): void {
    this.#closed = true;
    for (const watcher of this.#watchers) watcher.close();
    this.#watchers = [];
  }

  /** Sets up watchers for where the path is now, the new ones before the old ones are closed. */
  async #follow(): Promise<void> {
    let folders = await foldersOf(this.#path);
    for (let tries = 1; ; tries++) {
      const watchers = this.#open(folders);
      for (const watcher of this.#watchers) watcher.close();
      this.#watchers = watchers;
      const now = await foldersOf(this.#path);
      if (tries === TRIES_MAX || JSON.stringify(now) === JSON.stringify(folders)) return;
      folders = now;
    }
  }

  #open(folders: readonly WatchedFolder[]): FSWatcher[] {
    const watchers: FSWatcher[] = [];
    if (this.#closed) return watchers;
    try {
      for (const folder of folders) {
        const watcher = watch(folder.path, { persistent: false }, (event, name) =>
          this.#heard(folder, event, name),
        );
        watcher.on('error', () => void this.#lookAgain());
        watchers.push(watcher);
      }
      return watchers;
    } catch (error) {
      for (const watcher of watchers) watcher.close();
      throw error;
    }
  }

  #heard(folder: WatchedFolder, event: 'rename' | 'change', name: string | null): void {
    if (this.#closed) return;
    // The system reports a change of the folder itself under the folder's own name, as if it were
    // an entry of itself.
    const aboutItself = name === null || name === basename(folder.path);
    if (folder.name === null) {
      if (aboutItself) void this.#lookAgain();
      else this.#events.onChange(join(this.#path, name));
    } else if (event === 'change' && name === folder.name && folder.means === 'changed')
      this.#events.onChange(this.#path);
    else if (aboutItself || name === folder.name) {
      this.#changed ||= name === folder.name && folder.means === 'changed';
      void this.#lookAgain();
    }
  }

  /**
   * Follows the path to where it is now, and then reports whether it has changed, so that no later
   * change is missed.
   */
  async #lookAgain(): Promise<void> {
    this.#moved = true;
    if (this.#following) return;
    this.#following = true;
    try {
      while (this.#moved && !this.#closed) {
        this.#moved = false;
        await this.#follow();
        const now = await fingerprint(this.#path);
        const changed = this.#changed || now !== this.#seen;
        this.#seen = now;
        this.#changed = false;
        if (changed && !this.#closed) this.#events.onChange(this.#path);
      }
    } catch (error) {
      this.#events.onChange(this.#path);
      this.#events.onLost(error);
    } finally {
      this.#following = false;
    }
  }
}

async function foldersOf(path: string): Promise<WatchedFolder[]> {
  const folders: WatchedFolder[] = [];
  const parent = dirname(path);
  const above = await nearestFolder(parent);
  if (parent !== path) {
    const [name = ''] = relative(above, path).split(sep);
    folders.push({ path: above, name, means: above === parent ? 'changed' : 'look again' });
  }
  const [own, target] = await Promise.all([lookAt(() => lstat(path)), lookAt(() => stat(path))]);
  if (own?.isSymbolicLink() && target !== null) {
    const real = await realpath(path).catch(() => path);
    folders.push({ path: dirname(real), name: basename(real), means: 'changed' });
  }
  if (target?.isDirectory()) folders.push({ path, name: null, means: 'changed' });
  return folders;
}

async function nearestFolder(path: string): Promise<string> {
  for (let folder = path; ; folder = dirname(folder)) {
    if (folder === dirname(folder) || (await lookAt(() => stat(folder)))?.isDirectory())
      return folder;
  }
}

/** Resolves with null if nothing is there, or nothing that the server may examine. */
async function lookAt(look: () => Promise<Stats>): Promise<Stats | null> {
  try {
    return await look();
  } catch {
    return null;
  }
}

/** A string that stays the same as long as the path leads to the same contents. */
async function fingerprint(path: string): Promise<string | null> {
  const stats = await lookAt(() => stat(path));
  // A folder's entries are reported on their own.
  if (stats === null) return null;
  const same = `${stats.dev}:${stats.ino}:${stats.birthtimeMs}`;
  return stats.isDirectory() ? same : `${same}:${stats.size}:${stats.mtimeMs}`;
}

function watchFailure(error: unknown, path: string): unknown {
  if (!hasErrorCode(error, EXHAUSTED)) return fileFailure(error, path);
  return fileFailed(
    'watch_limit_reached',
    `${path} cannot be watched: the system's limit of watches is reached (on Linux fs.inotify.max_user_watches and max_user_instances), ` +
      'or this process has too many open files (ulimit -n)',
    path,
  );
}
