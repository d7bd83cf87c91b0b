import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type RequestListener,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

export const certificateFile = (name: string) => join(import.meta.dirname, 'certificates', name);

/** Trusts the authority that has issued the certificates of tests. */
export const TRUSTED = { SSL_CERT_FILE: certificateFile('ca.pem') };

/** `valid` is for the loopback address, `other-host` for other.example. */
export const tlsFiles = (name: 'valid' | 'other-host') => ({
  cert: readFileSync(certificateFile(`${name}.pem`)),
  key: readFileSync(certificateFile(`${name}.key`)),
});

/** Lets a server listen on the loopback address until the test ends. Returns its port. */
export async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/**
 * A proxy on loopback that leads every host to `target`, or answers CONNECT with another status.
 */
export async function startProxy(
  target: number,
  { status = 200, tls = null as ReturnType<typeof tlsFiles> | null } = {},
) {
  const seen: { line: string; credentials: string | undefined }[] = [];
  const note = (req: IncomingMessage) => {
    seen.push({
      line: `${req.method} ${req.url}`,
      credentials: req.headers['proxy-authorization'],
    });
  };
  const pass: RequestListener = (req, res) => {
    note(req);
    const path = new URL(req.url ?? '').pathname;
    const onward = httpRequest(
      { host: '127.0.0.1', port: target, path, method: req.method ?? 'GET', headers: req.headers },
      (answer) => {
        res.writeHead(answer.statusCode ?? 0, answer.headers);
        answer.pipe(res);
      },
    );
    req.pipe(onward);
  };
  const proxy = tls === null ? createServer(pass) : createTlsServer(tls, pass);
  proxy.on('connection', (socket: Socket) => onTestFinished(() => void socket.destroy()));
  proxy.on('connect', (req: IncomingMessage, socket: Socket) => {
    note(req);
    socket.on('error', () => {});
    if (status !== 200) return void socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
    const onward = connect(target, '127.0.0.1', () => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
    onward.on('error', () => socket.destroy()).on('close', () => socket.destroy());
    socket.on('close', () => onward.destroy());
    onward.pipe(socket);
    socket.pipe(onward);
    onTestFinished(() => void socket.destroy());
  });
  return { port: await listening(proxy), seen };
}

/** A proxy that takes a connection and then does this. `heard`: it has got bytes so often. */
export async function stuckProxy(behave: (socket: Socket) => void) {
  const proxy = createTcpServer();
  let heardCount = 0;
  const closed = new Promise((resolve) =>
    proxy.on('connection', (socket) => {
      socket.on('error', () => {}).on('close', resolve);
      socket.on('data', () => proxy.emit('heard', ++heardCount));
      onTestFinished(() => void socket.destroy());
      behave(socket);
    }),
  );
  const heard = async (count: number) => {
    while (heardCount < count) await once(proxy, 'heard');
  };
  return { port: await listening(proxy), closed, heard };
}
