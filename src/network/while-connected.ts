import type { Duplex } from 'node:stream';

/**
 * Waits for `use`, whose signal aborts when the client of a connection is gone: it has closed the
 * connection or ended its output. A client that has only ended its output cannot be told from one
 * that was killed. `isRead`: something else reads from the connection meanwhile, such as the parser
 * of a request.
 */
export async function whileConnected<T>(
  client: Duplex,
  isRead: boolean,
  use: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const gone = new AbortController();
  const abort = () => gone.abort();
  // The end is announced only when it is read. What has come stays in the buffer.
  const look = () => void (client.readableLength === 0 && client.read());
  client.on('close', abort);
  if (!isRead) client.on('end', abort).on('readable', look);
  if (client.destroyed) abort();
  try {
    return await use(gone.signal);
  } finally {
    client.off('close', abort).off('end', abort).off('readable', look);
  }
}
