import { realPathOrSame } from '../paths/real-path.ts';
import { statOf } from '../paths/stat-of.ts';

/** By path: the number of the file, and what ends the listening there. */
const sockets = new Map<string, { inode: number; onMoved: () => void }>();
const files = new Set<string>();

/**
 * From now on no command of this process sees the socket at this path, on which the process
 * listens. `onMoved`: called when the socket is not there any more, so that it cannot be hidden.
 * Nobody must be able to connect after that. Returns the end of the hiding.
 */
export function hideSocket(path: string, onMoved: () => void): () => void {
  const inode = statOf(path)?.ino ?? 0;
  sockets.set(path, { inode, onMoved });
  return () => void sockets.delete(path);
}

/** From now on no command of this process sees the file at this path, which has a secret. */
export function hideFile(path: string): void {
  files.add(path);
}

/**
 * The real paths of the sockets on which this process listens. Called before each command starts: a
 * command may have renamed the folder of a socket.
 */
export function hiddenSockets(): readonly string[] {
  for (const [path, { inode, onMoved }] of [...sockets]) if (statOf(path)?.ino !== inode) onMoved();
  return [...sockets.keys()];
}

/** The real paths of the files with secrets, as they are now. */
export function hiddenSecrets(): readonly string[] {
  return [...files].map(realPathOrSame);
}
