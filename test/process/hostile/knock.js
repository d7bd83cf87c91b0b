/**
 * Asks for a web socket and prints the status of the answer, or the code of the error:
 * `node knock.js PORT|PATH [HEADER…]`. A program of its own, since commands and other users run it.
 */
import { connect } from 'node:net';

const print = (text) => process.stdout.write(`${text}\n`);
const [at, ...headers] = process.argv.slice(2);
const socket = /^\d+$/.test(at) ? connect(Number(at), '127.0.0.1') : connect(at);
socket.on('error', ({ code }) => print(code));
socket.on('connect', () =>
  socket.write(
    `${[
      'GET / HTTP/1.1',
      'Host: 127.0.0.1',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
      ...headers,
    ].join('\r\n')}\r\n\r\n`,
  ),
);
socket.once('data', (data) => {
  print(String(data).split(' ')[1]);
  socket.destroy();
});
socket.on('end', () => print('closed'));
