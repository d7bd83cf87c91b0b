import { BlockList, isIP } from 'node:net';
import type { Env } from '../env.ts';

/**
 * The code of the error for a proxy that has not connected, before the status of its answer, if it
 * has one.
 */
export const PROXY_REFUSED = 'PROXY_ANSWERED_';

/** An HTTP proxy, and the environment variable that names it. */
export interface HttpProxy {
  url: URL;
  variable: string;
}

/**
 * Returns the proxy that the environment names for a URL, or why it cannot be used. Null: there is
 * none. Reads HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY in small and in capital letters, as
 * curl does. Requests to this machine never go through a proxy.
 */
export function proxyFor(url: URL, env: Env): HttpProxy | { problem: string } | null {
  const host = url.hostname.replace(/^\[|\]$/g, '').toLowerCase();
  if (isLoopback(host) || isExcepted(host, url)(noProxy(env))) return null;
  const name = `${url.protocol.slice(0, -1)}_proxy`;
  const variable = [name, name.toUpperCase(), 'all_proxy', 'ALL_PROXY'].find(
    (each) => own(env, each) !== '',
  );
  if (variable === undefined) return null;
  const proxy = proxyUrl(own(env, variable));
  if (proxy === null || !isDecodable(proxy.username) || !isDecodable(proxy.password))
    return {
      problem: `${variable} is not the URL of a proxy. Correct it, or set NO_PROXY to connect directly.`,
    };
  if (proxy.protocol === 'http:' || proxy.protocol === 'https:') return { url: proxy, variable };
  const scheme = proxy.protocol.slice(0, -1);
  return {
    problem: `The proxy in ${variable} is a ${scheme} proxy. heddle uses http and https proxies only. Set NO_PROXY to connect directly.`,
  };
}

/** The options with which a socket, or a request, goes to a proxy. */
export function proxyAddress({ protocol, hostname, port }: URL): {
  host: string;
  port: number;
  servername: string;
} {
  const host = hostname.replace(/^\[|\]$/g, '');
  return {
    host,
    port: Number(port || (protocol === 'https:' ? 443 : 80)),
    servername: isIP(host) === 0 ? host : '',
  };
}

/** The headers of a request that are for the proxy. */
export function proxyHeaders({ username, password }: URL): Record<string, string> {
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return credentials === ':'
    ? {}
    : { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` };
}

/** A value of such a variable for people: without user and password. */
export function shownProxy(value: string): string {
  const url = proxyUrl(value.trim());
  return url === null
    ? value.replace(/^.*@/s, '…@')
    : url.origin === 'null'
      ? `${url.protocol}//${url.host}`
      : url.origin;
}

/** Null: it is no URL. A value without a scheme is the address of an HTTP proxy. */
function proxyUrl(value: string): URL | null {
  const address = /^[a-z][a-z\d+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  return URL.canParse(address) ? new URL(address) : null;
}

/** Whether it is percent-encoded as it must be in a URL. */
export function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function own(env: Env, name: string): string {
  return (Object.hasOwn(env, name) ? (env[name] ?? '') : '').trim();
}

function noProxy(env: Env): string[] {
  return (own(env, 'no_proxy') || own(env, 'NO_PROXY'))
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '');
}

function isLoopback(host: string): boolean {
  return (
    host === 'localhost' || host.endsWith('.localhost') || /^127\./.test(host) || host === '::1'
  );
}

/**
 * Returns the function that says whether entries of NO_PROXY name the host: a domain with all below
 * it, an address, a network, or `*`.
 */
function isExcepted(
  host: string,
  { protocol, port: given }: URL,
): (entries: readonly string[]) => boolean {
  const port = given || (protocol === 'https:' ? '443' : '80');
  return (entries) => entries.some((entry) => entry === '*' || isNamed(entry, { host, port }));
}

function isNamed(entry: string, { host, port }: { host: string; port: string }): boolean {
  const [, bracketed, plain = '', entryPort] =
    /^(?:\[([^\]]*)\]|([^:]*|[^:]*:[^:]*:.*?))(?::(\d+))?$/.exec(entry) ?? [];
  const name = bracketed ?? plain;
  if (name === '' || (entryPort !== undefined && entryPort !== port)) return false;
  const family = isIP(host);
  if (family !== 0) return name === host || isInNetwork(host, family, name);
  const domain = name.replace(/^\*?\./, '');
  return host === domain || host.endsWith(`.${domain}`);
}

function isInNetwork(host: string, family: number, network: string): boolean {
  const [address = '', bits = ''] = network.split('/');
  const bitsMax = family === 4 ? 32 : 128;
  if (isIP(address) !== family || !/^\d+$/.test(bits) || Number(bits) > bitsMax) return false;
  const list = new BlockList();
  const type = family === 4 ? 'ipv4' : 'ipv6';
  list.addSubnet(address, Number(bits), type);
  return list.check(host, type);
}
