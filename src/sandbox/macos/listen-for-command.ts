import { randomBytes } from 'node:crypto';
import { PROXY_USER } from '../../policy/network/proxy-user.ts';
import type { Listeners } from '../listeners.ts';
import type { ProxyAddress } from '../proxy-environment.ts';
import { proxyUnavailable } from '../proxy-unavailable.ts';
import type { CommandServer } from '../sandbox.ts';

const CREDENTIAL_BYTES = 24;

/**
 * Listens for the connections of one command to its proxy, on a port of this machine. Other
 * programs can connect to it, too, so it has a credential that only the command gets. Rejects with
 * a `SandboxUnavailableError`.
 */
export async function listenForCommand(
  listeners: Listeners,
  server: CommandServer,
): Promise<ProxyAddress & { close(): void }> {
  const credential = randomBytes(CREDENTIAL_BYTES).toString('base64url');
  const fail = (error: unknown): never => {
    throw proxyUnavailable(error instanceof Error ? error.message : String(error), error);
  };
  const listener = await listeners.listen().catch(fail);
  const close = () => listener.close();
  await listener.serve(server, credential).catch((error: unknown) => {
    close();
    fail(error);
  });
  return { port: listener.port, credential: `${PROXY_USER}:${credential}`, close };
}
