import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, stat } from 'node:fs/promises';
import { dirname, join, parse, relative, sep } from 'node:path';
import { O_PATH } from '../../base/files/o-path.ts';
import { hasErrorCode } from '../../base/system-error-code.ts';
import { PatchError } from './patch-error.ts';

/** The most folders that stay open between two changes. */
const FOLDERS_MAX = 64;
const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;

interface Pinned {
  handle: FileHandle;
  /** A path that leads to the open folder itself, even if it is moved or replaced. */
  path: string;
}

/**
 * Keeps the folders of a patch open, so that a patch reads and writes exactly the paths that were
 * judged. A folder is opened step by step from the root, and no step follows a link: if another
 * process puts a link on the path in the meantime, the opening fails. Files in an open folder are
 * reached through its file descriptor.
 *
 * Patches are judged by real paths. This class therefore enforces the bounds of the sandbox without
 * a process in the sandbox, which would cost more than the whole patch. It also ties a user's
 * approval to the file that the user was shown.
 */
export class PinnedFolders {
  readonly #open = new Map<string, Pinned>();

  /**
   * Returns a path for the entry `name` in `folder`, which is an absolute path without links.
   * `create` makes missing folders. The path is valid until the next `trim` or `close`. Rejects
   * with the system's error.
   */
  async entry(
    { folder, name }: { folder: string; name: string },
    { create = false } = {},
  ): Promise<string> {
    return join((await this.#pin(folder, create)).path, name);
  }

  /** Closes the folders if many are open. To be called between two changes. */
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
    const path = join(
      (await this.#pin(dirname(folder), create)).path,
      relative(dirname(folder), folder),
    );
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

/**
 * The path of an open folder by its descriptor: in /proc on Linux, in /.vol on macOS. Throws a
 * PatchError if there is none.
 */
async function ownPath(handle: FileHandle): Promise<string> {
  const { dev, ino } = await handle.stat({ bigint: true });
  for (const path of [`/proc/self/fd/${handle.fd}${sep}`, `/.vol/${dev}/${ino}`]) {
    const found = await stat(path, { bigint: true }).catch(() => null);
    if (found?.dev === dev && found.ino === ino) return path;
  }
  throw new PatchError(
    'files cannot be written safely on this system: neither /proc nor /.vol shows open directories',
  );
}

function unlessThere(error: unknown): void {
  if (!hasErrorCode(error, ['EEXIST'])) throw error;
}
