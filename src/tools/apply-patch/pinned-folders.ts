import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, stat } from 'node:fs/promises';
import { platform } from 'node:os';
import { dirname, join, parse, relative, sep } from 'node:path';
import { hasErrorCode } from '../../base/system-error-code.ts';
import { PatchError } from './patch-error.ts';

/** How many folders may stay open from one change to the next. */
const FOLDERS_MAX = 64;
/** Opens a folder without reading it, so that one that can only be passed through will do. Linux alone has it. */
const O_PATH = platform() === 'linux' ? 0o10000000 : 0;
const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;

interface Pinned {
  handle: FileHandle;
  /** A path that names this very folder, wherever it is moved and whatever is put in its place. */
  path: string;
}

/**
 * Folders as they were when they were judged. One is opened step by step from the root and no step follows a link, so what
 * lies at a path that was resolved and judged is what is read and written: whoever puts a link there in between makes the
 * opening fail. What is done below an open folder goes by its file descriptor, which the system keeps a path for.
 *
 * Each change is judged by its real path, so this holds the sandbox's bounds without a process inside the sandbox, which
 * would cost more than the whole patch, and also holds a user's yes to the very file that was shown.
 */
export class PinnedFolders {
  readonly #open = new Map<string, Pinned>();

  /**
   * A path for the entry `name` of the folder `folder`, which is an absolute path without links; where `create` says so, what
   * is missing of it is made. Good until folders are let go. Rejects with the system's error.
   */
  async entry({ folder, name }: { folder: string; name: string }, { create = false } = {}): Promise<string> {
    return join((await this.#pin(folder, create)).path, name);
  }

  /** Lets folders go where many are open. To be called between two changes. */
  async trim(): Promise<void> {
    if (this.#open.size >= FOLDERS_MAX) await this.close();
  }

  async close(): Promise<void> {
    const open = [...this.#open.values()];
    this.#open.clear();
    await Promise.all(open.map(({ handle }) => handle.close()));
  }

  async #pin(folder: string, create: boolean): Promise<Pinned> {
    const known = this.#open.get(folder);
    if (known !== undefined) return known;
    const { root } = parse(folder);
    if (folder === root) return this.#hold(folder, folder);
    const path = join((await this.#pin(dirname(folder), create)).path, relative(dirname(folder), folder));
    if (create) await mkdir(path).catch(unlessThere);
    return this.#hold(folder, path);
  }

  async #hold(folder: string, path: string): Promise<Pinned> {
    const handle = await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_PATH);
    try {
      const pinned = { handle, path: await ownPath(handle) };
      this.#open.set(folder, pinned);
      return pinned;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }
}

/** The path by which the system finds an open folder: Linux has it in /proc, macOS below /.vol. */
async function ownPath(handle: FileHandle): Promise<string> {
  const { dev, ino } = await handle.stat({ bigint: true });
  for (const path of [`/proc/self/fd/${handle.fd}${sep}`, `/.vol/${dev}/${ino}`]) {
    const found = await stat(path, { bigint: true }).catch(() => null);
    if (found?.dev === dev && found.ino === ino) return path;
  }
  throw new PatchError('files cannot be written safely on this system: neither /proc nor /.vol shows open directories');
}

function unlessThere(error: unknown): void {
  if (!hasErrorCode(error, ['EEXIST'])) throw error;
}
