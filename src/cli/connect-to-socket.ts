import { once } from 'node:events';
import { connect } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { hasErrorCode } from '../base/system-error-code.ts';

/**
 * Copies bytes between a client and the socket of a server, in both directions, until the server or
 * the client closes it. The client makes the upgrade itself. Rejects with an Error for a person if
 * no server listens there.
 */
export async function connectToSocket(
  path: string,
  { stdin, stdout }: { stdin: Readable; stdout: Writable },
): Promise<void> {
  const socket = connect({ path, allowHalfOpen: true });
  try {
    await once(socket, 'connect');
  } catch (error) {
    throw new Error(
      hasErrorCode(error, ['ENOENT', 'ECONNREFUSED'])
        ? `no server listens on ${path}: start one with heddle app-server --listen unix://${path}`
        : `${path}: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  // One side may break off: the other one then ends too.
  const out = pipeline(socket, stdout).catch(() => {});
  void pipeline(stdin, socket).catch(() => {});
  await out;
  socket.destroy();
}
