import { mkdirSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { ownUser } from '../base/files/read-proc.ts';
import { makeFolder } from '../base/paths/make-folder.ts';
import { realPathOrSame } from '../base/paths/real-path.ts';
import { statOf } from '../base/paths/stat-of.ts';
import { hasErrorCode } from '../base/system-error-code.ts';
import { ListenError } from './listen-error.ts';

/** The folder of the home that has the socket of its server. */
const CONTROL_FOLDER = 'app-server-control';
/** The system's limit, less the NUL at the end. Node cuts longer paths off. */
const PATH_BYTES_MAX = 107;
/** The most that the path of a socket has beyond that of its folder while it is made. */
const NAME_BYTES = '/.hXXXXXX/s'.length;
const PRIVATE = 0o700;
const WRITABLE_BY_OTHERS = 0o022;
const STICKY = 0o1000;

/** The path of the socket of a home's server. */
export function homeSocket(home: string): string {
  return join(home, CONTROL_FOLDER, 'app-server-control.sock');
}

/**
 * Makes the folder of a socket, for this user alone, if it is missing. The folder above it must be
 * there. Throws a ListenError if it cannot be used, or if others could replace the socket.
 */
export async function prepareSocketFolder(path: string, home: string): Promise<void> {
  if (Buffer.byteLength(path) > PATH_BYTES_MAX)
    throw new ListenError(`${path}: the path of a socket has at most ${PATH_BYTES_MAX} bytes`);
  const folder = dirname(path);
  const folderMax = PATH_BYTES_MAX - NAME_BYTES;
  if (Buffer.byteLength(folder) > folderMax)
    throw new ListenError(
      `${path}: the path of the folder of a socket has at most ${folderMax} bytes`,
    );
  try {
    if (path === homeSocket(home)) await makeFolder(home);
    if (statOf(folder) === null) mkdirSync(folder, { mode: PRIVATE });
  } catch (error) {
    throw new ListenError(`${path}: its folder cannot be made: ${messageOf(error)}`);
  }
  for (let above = realPathOrSame(folder); ; above = dirname(above)) {
    requireUnreplaceable(above, path);
    if (dirname(above) === above) return;
  }
}

/** Others must not be able to rename or remove what lies in the folder. */
function requireUnreplaceable(folder: string, path: string): void {
  const { uid, mode } = statSync(folder);
  const isOurs = uid === 0 || uid === ownUser()?.uid;
  if (isOurs && ((mode & WRITABLE_BY_OTHERS) === 0 || (mode & STICKY) !== 0)) return;
  throw new ListenError(
    `${path}: other users can replace what is in ${folder}. Use a folder that only you or root can write to`,
  );
}

/**
 * Removes the socket of a server that has ended. Rejects with a ListenError if a server listens
 * there, or if something else is at the path.
 */
export async function removeStaleSocket(path: string): Promise<void> {
  const found = statOf(path);
  if (found === null) return;
  if (!found.isSocket()) throw new ListenError(`${path} exists and is not a socket`);
  if (await isServed(path)) throw new ListenError(`${path} is already in use by another server`);
  rmSync(path, { force: true });
}

/** Whether a server accepts connections at the path. */
function isServed(path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', (error) => {
      if (hasErrorCode(error, ['ECONNREFUSED', 'ENOENT'])) resolve(false);
      else if (hasErrorCode(error, ['EAGAIN'])) resolve(true);
      else reject(new ListenError(`${path}: ${messageOf(error)}`));
    });
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
