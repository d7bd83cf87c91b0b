import { createServer } from 'node:http';
import { connect } from 'node:net';

// Loads a proxy from a process of its own. Its arguments are the port of the proxy, and the kind of
// load: `mixed` for downloads, uploads and handshakes, `pipelined` for many requests in each
// connection, `tunnels` for many hosts. It prints how many exchanges succeeded.
const port = Number(process.argv[2]);
const BODY = Buffer.alloc(2_000_000, 'x');
const CONNECTIONS = 40;

const web = createServer((request, response) => {
  request.resume().on('end', () => response.end(BODY));
}).listen(0, '127.0.0.1');
await new Promise((resolve) => web.once('listening', resolve));
const target = `127.0.0.1:${web.address().port}`;

/** Sends bytes, and resolves with the number of bytes that come back. */
function exchange(...parts) {
  return new Promise((resolve) => {
    let count = 0;
    const socket = connect({ port, host: '127.0.0.1' });
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      count += bytes.length;
    });
    socket.once('close', () => resolve(count));
    for (const part of parts) socket.write(part);
  });
}

const close = 'Host: a\r\nConnection: close\r\n';
const mixed = () => [
  exchange(`GET http://${target}/ HTTP/1.1\r\n${close}\r\n`),
  exchange(
    `POST http://${target}/ HTTP/1.1\r\n${close}Content-Length: ${BODY.length}\r\n\r\n`,
    BODY,
  ),
  exchange(`CONNECT ${target} HTTP/1.1\r\n\r\n`, `GET / HTTP/1.1\r\n${close}\r\n`),
  exchange('GET http://refused.example/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'),
  exchange(Buffer.from([5, 1, 2])).catch(() => 0),
];
const pipelined = () => [
  exchange('GET http://refused.example/ HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(6000)),
];
const tunnels = () =>
  Array.from({ length: 5 }, (_, index) =>
    exchange(`CONNECT h${index}.example:443 HTTP/1.1\r\n\r\n`, 'GET / HTTP/1.1\r\n\r\n'),
  );
const make = { mixed, pipelined, tunnels }[process.argv[3]];
const counts = await Promise.all(Array.from({ length: CONNECTIONS }, make).flat());
web.close();
web.closeAllConnections();
process.stdout.write(JSON.stringify(counts.filter((count) => count > BODY.length).length));
