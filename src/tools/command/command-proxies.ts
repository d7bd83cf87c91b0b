import type { ProxyRequest } from '../../network/command-proxy.ts';
import type { ProxyRefusal } from '../../network/proxy-refusal.ts';
import type { AddressKind } from '../../policy/network/address-kind.ts';
import type { NetworkTarget } from '../../policy/network/network-target.ts';
import type { CommandServer } from '../../sandbox/sandbox.ts';

export interface ProxyOptions {
  /** Whether it speaks SOCKS5. */
  socks: boolean;
  /**
   * Returns the kinds of addresses that a request may reach. Rejects with a `ProxyRefusal`. The
   * signal aborts when the request's connection is gone.
   */
  decide(request: ProxyRequest, signal: AbortSignal): Promise<readonly AddressKind[]>;
  /** Called when there is no connection to an allowed target. */
  notReached(target: NetworkTarget, refusal: ProxyRefusal): void;
}

/** The proxy of a command. */
export interface OpenProxy {
  /** The server of the connections of the command. */
  serve: CommandServer;
  /** Closes all connections. */
  close(): void;
}

/** Opens the proxies of commands. */
export interface CommandProxies {
  open(options: ProxyOptions): Promise<OpenProxy>;
  /** To be called when no command runs any more. */
  close(): Promise<void>;
}
