import type { Clock } from '../../../base/clock.ts';
import type { Log } from '../../../base/log.ts';
import type { Dial } from '../../../network/checked-dial.ts';
import { ProxyRefusal } from '../../../network/proxy-refusal.ts';
import type { SocketBudget } from '../../../network/socket-budget.ts';
import type { CommandProxies } from '../command-proxies.ts';

interface LocalProxiesOptions {
  clock: Clock;
  log: Log;
  /** Connects to hosts, by default as the system resolves their names. */
  dial?: Dial | undefined;
}

/** The proxies of commands in this thread. Their code is loaded at first use. */
export function localProxies({ clock, log, dial }: LocalProxiesOptions): CommandProxies {
  let connect = dial;
  let budget: SocketBudget | null = null;
  return {
    async open({ socks, decide, notReached }) {
      const { CommandProxy } = await import('../../../network/command-proxy.ts');
      const { checkedDial } = await import('../../../network/checked-dial.ts');
      const { SocketBudget } = await import('../../../network/socket-budget.ts');
      connect ??= checkedDial({ clock });
      budget ??= new SocketBudget();
      const reach = connect;
      const proxy = new CommandProxy({
        clock,
        log,
        socks,
        budget,
        decide,
        async dial(target, reaches, signal) {
          try {
            return await reach(target, reaches, signal);
          } catch (error) {
            if (error instanceof ProxyRefusal) notReached(target, error);
            throw error;
          }
        },
      });
      return { serve: proxy.serve.bind(proxy), close: () => proxy.close() };
    },
    async close() {},
  };
}
