import type { Agent, AgentOptions, ClientRequest, RequestOptions } from 'node:http';
import type { LookupFunction } from 'node:net';
import { urlToHttpOptions } from 'node:url';
import type { Clock } from '../clock.ts';
import { Once } from '../loading/once.ts';
import { HttpExchange, type HttpRequest, type Send } from './http-exchange.ts';
import { type HttpProxy, proxyAddress, proxyHeaders } from './proxy-for.ts';
import { type TrustDeps, trustedContext } from './trusted-context.ts';

/**
 * Shorter than the time for which common servers keep connections open (5 s), so that no request
 * uses a connection that is closing.
 */
const IDLE_SOCKET_MS_MAX = 4_000;
const IDLE_SOCKETS_MAX = 8;
const KEPT: AgentOptions = {
  keepAlive: true,
  timeout: IDLE_SOCKET_MS_MAX,
  maxFreeSockets: IDLE_SOCKETS_MAX,
};

export interface HttpClientDeps extends TrustDeps {
  clock: Clock;
  /** Resolves host names; the system's by default. */
  lookup?: LookupFunction | undefined;
}

type Request = (options: RequestOptions) => ClientRequest;

/**
 * Sends requests over kept connections. Idle connections are limited and do not keep the process
 * alive. What it needs of Node is loaded with the first request.
 */
export class HttpClient {
  readonly #deps: HttpClientDeps;
  readonly #senders = new Map<string, Once<Send>>();

  constructor(deps: HttpClientDeps) {
    this.#deps = deps;
  }

  /** Starts an exchange. The caller must close it. */
  async ask(httpRequest: HttpRequest, signal: AbortSignal): Promise<HttpExchange> {
    const { url, proxy } = httpRequest;
    const key = `${url.protocol} ${proxy?.url.href ?? ''}`;
    const sender =
      this.#senders.get(key) ??
      new Once(() => this.#createSender(url.protocol === 'https:', proxy));
    this.#senders.set(key, sender);
    return new HttpExchange(httpRequest, {
      send: await sender.get(),
      clock: this.#deps.clock,
      signal,
    });
  }

  async #createSender(isTls: boolean, proxy: HttpProxy | null): Promise<Send> {
    const { lookup } = this.#deps;
    if (isTls && proxy !== null) {
      const { TunnelAgent } = await import('./tunnel-agent.ts');
      const agent = new TunnelAgent(
        { ...KEPT, ...(await this.#trust()) },
        { proxy: proxy.url, lookup },
      );
      const send = await requestBy('https:');
      return (url, options) => send({ ...urlToHttpOptions(url), ...options, agent });
    }
    const protocol = isTls ? 'https:' : proxy === null ? 'http:' : proxy.url.protocol;
    const send = await requestBy(protocol);
    const fixed = { agent: await this.#createAgent(protocol), lookup };
    if (proxy === null)
      return (url, options) => send({ ...urlToHttpOptions(url), ...options, ...fixed });
    // The proxy gets the whole address of the resource.
    const { host: hostname, ...address } = proxyAddress(proxy.url);
    const toProxy = { ...fixed, ...address, hostname, protocol };
    return (url, { headers, ...options }) =>
      send({
        ...urlToHttpOptions(url),
        ...options,
        ...toProxy,
        path: `${url.origin}${url.pathname}${url.search}`,
        headers: { host: url.host, ...headers, ...proxyHeaders(proxy.url) },
      });
  }

  async #createAgent(protocol: string): Promise<Agent> {
    if (protocol !== 'http:')
      return new (await import('node:https')).Agent({ ...KEPT, ...(await this.#trust()) });
    return new (await import('node:http')).Agent(KEPT);
  }

  async #trust() {
    const secureContext = await trustedContext(this.#deps);
    return secureContext === null ? {} : { secureContext };
  }
}

async function requestBy(protocol: string): Promise<Request> {
  return (protocol === 'http:' ? await import('node:http') : await import('node:https')).request;
}
