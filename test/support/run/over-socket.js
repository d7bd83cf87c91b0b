/**
 * Connects stdin and stdout to a socket, from the beginning of its server to the end of stdin:
 * `node over-socket.js ADDRESS PID`
 */
import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import WebSocket from 'ws';

const RETRY_MS = 20;

const [address, pid] = process.argv.slice(2);
const path = address.startsWith('unix://') ? address.slice('unix://'.length) : null;
const lines = createInterface({ input: process.stdin });
lines.pause();

function connect() {
  const socket = new WebSocket(path === null ? address : `ws+unix://${path}:/`, { maxPayload: 0 });
  socket.once('open', () => {
    socket.on('message', (message) => process.stdout.write(`${message}\n`));
    lines.on('line', (line) => socket.send(line));
    lines.on('close', () => socket.close());
    lines.resume();
  });
  let isEarly = false;
  socket.once('error', ({ code }) => {
    isEarly = code === 'ENOENT' || code === 'ECONNREFUSED';
  });
  socket.once('close', () => {
    if (isEarly) setTimeout(connect, RETRY_MS);
    else end();
  });
}

function end() {
  if (path !== null) rmSync(dirname(path), { recursive: true, force: true });
  try {
    process.kill(Number(pid));
  } catch {
    // It has ended.
  }
  process.exit();
}

connect();
