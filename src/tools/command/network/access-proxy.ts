import type { CommandProxies, OpenProxy } from '../command-proxies.ts';
import type { NetworkAccess } from './network-access.ts';

/** Opens a proxy for which `access` decides. `socks`: it speaks SOCKS5. */
export async function accessProxy(
  access: NetworkAccess,
  proxies: CommandProxies,
  socks: boolean,
): Promise<OpenProxy> {
  const { serve, close } = await proxies.open({
    socks,
    decide: (request, signal) => access.decide(request, signal),
    notReached: (target, refusal) => access.notReached(target, refusal),
  });
  return {
    serve,
    close() {
      close();
      access.close();
    },
  };
}
