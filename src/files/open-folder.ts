import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import type { AnyPath } from '../base/files/file-refused-error.ts';
import { descriptorPath } from './descriptor-path.ts';

/**
 * A folder that is held open. Paths from `child` lead into this folder, even if something else gets
 * its name in the meantime, such as a link to another folder. On systems that do not have such
 * paths, `child` returns ordinary paths below the folder's own path.
 */
export interface OpenFolder {
  names(): Promise<Buffer[]>;
  child(name: Buffer): Buffer;
  chmod(mode: number): Promise<void>;
  close(): Promise<void>;
}

/** Opens a folder. Rejects if the path is a link or not a folder. */
export async function openFolder(path: AnyPath): Promise<OpenFolder> {
  const handle = await open(
    path,
    constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0),
  );
  const base = Buffer.from(`${(await descriptorPath(handle)) ?? ''}/`);
  const folder = base.length > 1 ? base : Buffer.concat([Buffer.from(path), Buffer.from('/')]);
  return {
    names: () => readdir(folder, { encoding: 'buffer' }),
    child: (name) => Buffer.concat([folder, name]),
    chmod: (mode) => handle.chmod(mode),
    close: () => handle.close(),
  };
}
