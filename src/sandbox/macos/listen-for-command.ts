import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { PROXY_USER } from '../../policy/network/proxy-user.ts';
import type { ProxyAddress } from '../proxy-environment.ts';
import type { ServeConnection } from '../sandbox.ts';

const CREDENTIAL_BYTES = 24;

/**
 * Listens for the connections of one command to its proxy, on a port of this machine. Other programs can connect to it, too, so it has a
 * credential that only the command gets. Rejects with the system's error.
 */
export async function listenForCommand(serve: ServeConnection): Promise<ProxyAddress & { close(): void }> {
  const credential = randomBytes(CREDENTIAL_BYTES).toString('base64url');
  const server = createServer({ allowHalfOpen: true }, (socket) => serve(socket, credential)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  const { port } = server.address() as AddressInfo;
  return { port, credential: `${PROXY_USER}:${credential}`, close: () => void server.close() };
}
