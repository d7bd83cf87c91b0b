import { isIP } from 'node:net';
import { readHost } from './read-host.ts';

/**
 * The hosts that an entry of the configuration is about: all, one, or those below a domain.
 * `itself`: the domain also matches.
 */
export type DomainPattern =
  | { type: 'all' }
  | { type: 'host'; host: string }
  | { type: 'below'; domain: string; itself: boolean };

/**
 * Reads a pattern: `*`, a host, `*.example.com` for the hosts below a domain, or `**.example.com`
 * for the domain too. Returns null if it is none of these.
 */
export function readDomainPattern(text: string): DomainPattern | null {
  if (text === '*') return { type: 'all' };
  const [, stars, name = text] = /^(\*\*?)\.(.*)$/s.exec(text) ?? [];
  const host = readHost(name);
  if (host === null) return null;
  if (stars === undefined) return { type: 'host', host };
  return isIP(host) === 0 ? { type: 'below', domain: host, itself: stars === '**' } : null;
}

/** Returns the text of a pattern. */
export function patternText(pattern: DomainPattern): string {
  switch (pattern.type) {
    case 'all':
      return '*';
    case 'host':
      return pattern.host;
    case 'below':
      return `${pattern.itself ? '**' : '*'}.${pattern.domain}`;
    default:
      return pattern satisfies never;
  }
}

/**
 * Whether the pattern matches a host, as `readHost` returns it. Patterns of domains match no IP
 * addresses.
 */
export function matchesDomain(host: string, pattern: DomainPattern): boolean {
  switch (pattern.type) {
    case 'all':
      return true;
    case 'host':
      return host === pattern.host;
    case 'below':
      return (
        (pattern.itself && host === pattern.domain) ||
        (isIP(host) === 0 && host.endsWith(`.${pattern.domain}`))
      );
    default:
      return pattern satisfies never;
  }
}
