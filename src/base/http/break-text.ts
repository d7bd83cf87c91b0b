import type { Break, HttpRequest } from './http-exchange.ts';
import { isUntrusted, TRUST_ADVICE } from './trusted-context.ts';

/**
 * Why there is no response, or only a part of one, for people. Names the proxy by its variable
 * only.
 */
export function breakText(why: Break, { url, proxy }: Pick<HttpRequest, 'url' | 'proxy'>): string {
  const { message = '', code = '' } = why.broken === 'network' ? why.cause : {};
  const through = proxy === null ? '' : ` through the proxy in ${proxy.variable}`;
  const advice = isUntrusted(code) ? `. ${TRUST_ADVICE}` : '';
  return `no complete response from ${url.origin}${through}: ${message || code || 'it took too long'}${advice}`;
}
