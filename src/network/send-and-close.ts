import type { Duplex } from 'node:stream';
import type { Clock } from '../base/clock.ts';

/** The time for the client to read the last bytes. */
const LINGER_MS_MAX = 2_000;

/**
 * Sends the last bytes of a connection, discards everything that still comes, and closes it when
 * the client does, or after a moment.
 */
export function sendAndClose(socket: Duplex, bytes: Buffer | string, clock: Clock): void {
  socket.resume();
  socket.end(bytes);
  const timer = clock.setTimer(() => socket.destroy(), LINGER_MS_MAX);
  socket.once('close', () => timer.clear());
}
