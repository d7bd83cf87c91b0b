import type { Clock } from '../../../base/clock.ts';
import type { Log } from '../../../base/log.ts';
import type { Dial } from '../../../network/checked-dial.ts';
import { CommandProxy } from '../../../network/command-proxy.ts';
import type { NetworkAccess } from './network-access.ts';

interface AccessProxyDeps {
  clock: Clock;
  log: Log;
  dial: Dial;
  /** Whether it speaks SOCKS5. */
  socks: boolean;
}

/** A proxy for which `access` decides. */
export function accessProxy(access: NetworkAccess, { clock, log, dial, socks }: AccessProxyDeps): CommandProxy {
  return new CommandProxy({
    clock,
    log,
    socks,
    decide: (request, signal) => access.decide(request, signal),
    async dial(target, reaches, signal) {
      try {
        return await dial(target, reaches, signal);
      } catch (error) {
        access.notReached(target, error);
        throw error;
      }
    },
  });
}
