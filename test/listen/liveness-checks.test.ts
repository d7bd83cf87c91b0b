import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import type { WebSocket } from 'ws';
import { LivenessChecks } from '../../src/listen/liveness-checks.ts';
import { FakeClock } from '../support/fake-clock.ts';

const INTERVAL_MS = 30_000;

/** What the checks see and do of a web socket. */
class WatchedSocket extends EventEmitter {
  isPaused = false;
  pings = 0;
  isCutOff = false;
  /** The upgrade has been read and answered. */
  readonly stream = { bytesRead: 100, bytesWritten: 100, writableLength: 0 };

  ping(): void {
    this.pings++;
  }

  terminate(): void {
    this.isCutOff = true;
    this.emit('close');
  }

  get connected(): { socket: WebSocket; stream: Socket } {
    return { socket: this as unknown as WebSocket, stream: this.stream as Socket };
  }
}

function watched(count: number) {
  const clock = new FakeClock();
  const checks = new LivenessChecks(clock);
  const sockets = Array.from({ length: count }, () => new WatchedSocket());
  for (const { connected } of sockets) checks.add(connected);
  const later = () => clock.advance(INTERVAL_MS);
  return { clock, checks, later, sockets: sockets as [WatchedSocket, WatchedSocket] };
}

test('each client is asked every half minute, and cut off if it has not answered until the next time', () => {
  const { later, sockets } = watched(2);
  const [silent, living] = sockets;
  later();
  expect(sockets.map(({ pings }) => pings)).toEqual([1, 1]);
  living.stream.bytesRead += 2;
  expect(sockets.map(({ isCutOff }) => isCutOff)).toEqual([false, false]);
  later();
  expect(sockets.map(({ isCutOff }) => isCutOff)).toEqual([true, false]);
  expect(sockets.map(({ pings }) => pings)).toEqual([1, 2]);
  later();
  expect(living.isCutOff).toBe(true);
  expect(silent.pings).toBe(1);
});

test.each<[string, (socket: WatchedSocket) => unknown]>([
  ['sends messages', ({ stream }) => Object.assign(stream, { bytesRead: stream.bytesRead + 10 })],
  ['is not read by the server', (socket) => Object.assign(socket, { isPaused: true })],
  [
    'reads, though not as far as the ping',
    ({ stream }) => Object.assign(stream, { bytesWritten: stream.bytesWritten + 10 }),
  ],
  [
    'reads a part of what waits for it',
    ({ stream }) =>
      Object.assign(stream, { bytesWritten: stream.bytesWritten + 10, writableLength: 9 }),
  ],
])('a client that %s is there', (_, act) => {
  const { later, sockets } = watched(1);
  const [socket] = sockets;
  for (let round = 0; round < 5; round++) {
    act(socket);
    later();
  }
  expect(socket.isCutOff).toBe(false);
});

test('a client that takes nothing of what waits for it is cut off', () => {
  const { later, sockets } = watched(1);
  const [{ stream }] = sockets;
  for (let round = 0; round < 2; round++) {
    stream.bytesWritten += 10;
    stream.writableLength += 10;
    later();
  }
  expect(sockets[0].isCutOff).toBe(true);
});

test('no timer runs without clients, nor after the end', () => {
  const { clock, checks, later, sockets } = watched(1);
  expect(clock.timers).toEqual([INTERVAL_MS]);
  sockets[0].emit('close');
  later();
  expect(clock.timers).toEqual([]);
  checks.add(new WatchedSocket().connected);
  expect(clock.timers).toEqual([INTERVAL_MS]);
  checks.end();
  expect(clock.timers).toEqual([]);
});
