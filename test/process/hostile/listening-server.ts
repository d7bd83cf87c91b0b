import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, vi } from 'vitest';
import { type HeddleProcess, type Place, place, startHeddle } from '../support.ts';

/** A program that asks for a web socket. */
export const KNOCK = join(import.meta.dirname, 'knock.js');

/** A server with a client on stdio, a port and a socket in a folder of its own. */
export interface ListeningServer {
  heddle: HeddleProcess;
  where: Place;
  port: number;
  socket: string;
}

/** Starts one for the running test. */
export async function listeningServer({
  args = [],
  through = [],
  where = place(),
  address = 'ws://127.0.0.1:0',
}: {
  args?: string[];
  through?: string[];
  where?: Place;
  address?: string;
} = {}): Promise<ListeningServer> {
  // The path of a socket has at most 107 bytes.
  const folder = mkdtempSync('/tmp/heddle-');
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const socket = join(folder, 's');
  const heddle = await startHeddle(where, {
    args: ['app-server', '--stdio', '--listen', address, '--listen', `unix://${socket}`, ...args],
    through,
    // It has a line that is none of the log's.
    errorsLogged: true,
  });
  const port = await vi.waitFor(
    () => {
      const found = /listening on: ws:\/\/\S+:(\d+)/.exec(heddle.stderr)?.[1];
      expect(found).toBeDefined();
      return Number(found);
    },
    { timeout: 20_000 },
  );
  return { heddle, where, port, socket };
}

/** The headers of a request for a web socket. */
export const UPGRADE = [
  'Host: 127.0.0.1',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
];

/** The bytes of a request. */
export function requestText(headers: readonly string[], line = 'GET / HTTP/1.1'): string {
  return `${[line, ...headers].join('\r\n')}\r\n\r\n`;
}

/** Sends bytes. Resolves with all that comes back until the server closes, or `until` matches. */
export async function sent(
  port: number,
  bytes: string | Uint8Array,
  until = /\r\n\r\n/,
): Promise<string> {
  const socket = await connected(port);
  let answer = '';
  socket.setEncoding('latin1').on('data', (text) => {
    answer += text;
    if (until.test(answer)) socket.destroy();
  });
  socket.write(bytes);
  await new Promise((resolve) => socket.once('close', resolve));
  return answer;
}

/** A connection. Its errors are ignored. */
export async function connected(at: number | string): Promise<Socket> {
  const socket = typeof at === 'number' ? connect(at, '127.0.0.1') : connect(at);
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

/** The status of an answer; 0: the server has closed the connection without one. */
export function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0);
}
