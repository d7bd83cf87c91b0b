import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { Clock, Timer } from '../base/clock.ts';

/** How often each client is asked whether it is there. It has as long to answer. */
const INTERVAL_MS = 30_000;

/** The state of a client at the last look. */
interface Client {
  /** The bytes that it had sent at the last ping, */
  bytesRead: number;
  /** and those that its system had accepted. */
  bytesTaken: number;
}

/** A web socket, and the stream below it. */
interface Connected {
  socket: WebSocket;
  stream: Socket;
}

/**
 * Finds the clients that are gone without a word, such as a phone that has lost its network: asks
 * all with pings, and cuts off those that neither send nor read anything until the next one.
 */
export class LivenessChecks {
  readonly #clock: Clock;
  readonly #clients = new Map<Connected, Client>();
  #timer: Timer | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(connected: Connected): void {
    const { socket } = connected;
    this.#clients.set(connected, { bytesRead: 0, bytesTaken: 0 });
    socket.once('close', () => this.#clients.delete(connected));
    this.#timer ??= this.#clock.setTimer(() => this.#check(), INTERVAL_MS);
  }

  end(): void {
    this.#timer?.clear();
    this.#timer = null;
  }

  #check(): void {
    this.#timer = null;
    for (const [{ socket, stream }, client] of this.#clients) {
      const bytesTaken = stream.bytesWritten - stream.writableLength;
      // The answer of a client that the server does not read waits, and so does a ping behind much
      // output, and the answer behind a long message.
      const isThere =
        stream.bytesRead > client.bytesRead || bytesTaken > client.bytesTaken || socket.isPaused;
      if (!isThere) socket.terminate();
      else {
        client.bytesRead = stream.bytesRead;
        client.bytesTaken = bytesTaken;
        socket.ping();
      }
    }
    if (this.#clients.size > 0)
      this.#timer = this.#clock.setTimer(() => this.#check(), INTERVAL_MS);
  }
}
