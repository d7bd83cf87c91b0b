import { constants } from 'node:fs';
import { type FileHandle, open, readdir, stat } from 'node:fs/promises';

/** A path, or bytes of one: names need not be UTF-8. */
export type AnyPath = string | Buffer;

/**
 * A folder that is held open: what is done through it is done in this very folder, even when something else, such as a
 * link that leads out, takes its name meanwhile. Where the system has no way to that, its path has to do.
 */
export interface OpenFolder {
  names(): Promise<Buffer[]>;
  child(name: Buffer): Buffer;
  chmod(mode: number): Promise<void>;
  close(): Promise<void>;
}

/** Rejects where the path is a link, or no folder. */
export async function openFolder(path: AnyPath): Promise<OpenFolder> {
  const handle = await open(path, constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0));
  const base = Buffer.from(`${(await descriptorPath(handle)) ?? ''}/`);
  const folder = base.length > 1 ? base : Buffer.concat([Buffer.from(path), Buffer.from('/')]);
  return {
    names: () => readdir(folder, { encoding: 'buffer' }),
    child: (name) => Buffer.concat([folder, name]),
    chmod: (mode) => handle.chmod(mode),
    close: () => handle.close(),
  };
}

/** A path that leads to what is open, whatever its name is by now; null where the system has none. */
async function descriptorPath(handle: FileHandle): Promise<string | null> {
  const path = `/proc/self/fd/${handle.fd}`;
  try {
    const [through, own] = await Promise.all([stat(path), handle.stat()]);
    return through.ino === own.ino && through.dev === own.dev ? path : null;
  } catch {
    // No /proc here: a system without it, or a container.
    return null;
  }
}
