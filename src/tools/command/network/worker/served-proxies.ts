import type { KnownErrors } from '../../../../base/worker/error-data.ts';
import type { ProxyRequest } from '../../../../network/command-proxy.ts';
import { ProxyRefusal, type RefusalCode } from '../../../../network/proxy-refusal.ts';
import type { AddressKind } from '../../../../policy/network/address-kind.ts';
import type { NetworkTarget } from '../../../../policy/network/network-target.ts';

/** Proxies and listeners in a worker, by numbers that the main thread chooses. */
export interface ServedProxies {
  openProxy(proxy: number, socks: boolean): void;
  closeProxy(proxy: number): void;
  /** Returns the port. */
  listen(listener: number): Promise<number>;
  /** Returns the process id. */
  receive(listener: number, program: readonly string[], port: number): Promise<number>;
  /** See `CommandListener`. Returns the number of connections. */
  serve(listener: number, proxy: number | null, credential: string | null): Promise<number>;
  endSender(listener: number): void;
  closeListener(listener: number): void;
}

/** What the main thread decides for them. See `ProxyOptions`. */
export interface ProxyDecisions {
  decide(proxy: number, request: ProxyRequest, gone: AbortSignal): Promise<readonly AddressKind[]>;
  notReached(
    proxy: number,
    target: NetworkTarget,
    refusal: { code: RefusalCode; message: string },
  ): void;
}

export const PROXY_ERRORS: KnownErrors = {
  toData: (error) => (error instanceof ProxyRefusal ? error.code : null),
  toError: (code, message, options) => new ProxyRefusal(code as RefusalCode, message, options),
};
