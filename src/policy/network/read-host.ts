import { isIPv6 } from 'node:net';

/** A host name has at most this many characters, with the dot at its end. */
const NAME_CHARS_MAX = 254;
const LABEL_CHARS_MAX = 63;
/** Characters that end a host in a URL, or that URLs decode. */
const NO_HOST = /[\0-\x20\x7f/\\?#@%]/;
const LABEL = /^[a-z0-9_-]+$/;
const MAPPED = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;
const PORT_MAX = 65_535;

/**
 * Returns the one spelling of a host, or null if it is none: a name in lower case, in ASCII and
 * without the dot at its end, an IPv4 address of four decimal numbers, or an IPv6 address without
 * brackets. Reads IPv4 addresses in every notation that programs accept (`0x7f.1`, `2130706433`),
 * and IPv6 addresses that stand for IPv4 ones.
 */
export function readHost(text: string): string | null {
  if (text === '' || text.length > NAME_CHARS_MAX || NO_HOST.test(text)) return null;
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
  if (bare.includes(':')) return isIPv6(bare) ? readIPv6(bare) : null;
  if (bare !== text) return null;
  const host = hostOfUrl(text);
  return host?.split('.').every(isLabel) === true ? host : null;
}

/**
 * Reads `host:port`, with an IPv6 address in brackets. Returns null if the host or the port is
 * missing or invalid.
 */
export function readAuthority(text: string): { host: string; port: number } | null {
  const colon = text.lastIndexOf(':');
  const [name, digits] = [text.slice(0, colon), text.slice(colon + 1)];
  if (colon === -1 || !/^\d{1,5}$/.test(digits) || (name.includes(':') && !name.startsWith('[')))
    return null;
  const host = readHost(name);
  const port = Number(digits);
  return host === null || port === 0 || port > PORT_MAX ? null : { host, port };
}

/** Returns a host as it stands in a URL. */
export function hostInUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

function readIPv6(address: string): string | null {
  const written = hostOfUrl(`[${address}]`)?.slice(1, -1) ?? null;
  const mapped = MAPPED.exec(written ?? '');
  if (mapped === null) return written;
  const [high, low] = [mapped[1], mapped[2]].map((part) => Number.parseInt(part ?? '', 16));
  return [(high ?? 0) >> 8, (high ?? 0) & 0xff, (low ?? 0) >> 8, (low ?? 0) & 0xff].join('.');
}

function hostOfUrl(text: string): string | null {
  try {
    return new URL(`http://${text}/`).hostname.replace(/\.$/, '');
  } catch {
    // Not a host by the URL standard.
    return null;
  }
}

function isLabel(label: string): boolean {
  return label.length <= LABEL_CHARS_MAX && LABEL.test(label);
}
