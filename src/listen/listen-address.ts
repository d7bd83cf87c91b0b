import { isIP } from 'node:net';

/** An address of `--listen`. */
export type ListenAddress =
  | { kind: 'stdio' }
  | { kind: 'off' }
  /** `host`: an IP address, without brackets. `port`: 0 for a free one. */
  | { kind: 'ws'; host: string; port: number }
  /** `path`: as it was typed; null: the socket of the home. */
  | { kind: 'unix'; path: string | null };

const FORMS = 'stdio://, ws://IP:PORT, unix://, unix://PATH or off';
const PORT_MAX = 65_535;

/** Parses an address. Returns a string that says what is wrong with it. */
export function listenAddress(text: string): ListenAddress | string {
  if (text === 'stdio://' || text === 'stdio') return { kind: 'stdio' };
  if (text === 'off') return { kind: 'off' };
  if (text.startsWith('unix://')) return { kind: 'unix', path: text.slice(7) || null };
  const socket = /^ws:\/\/(?:\[([^\]]*)\]|([^:/]*)):(\d+)\/?$/.exec(text);
  if (socket === null)
    return text.startsWith('ws://')
      ? `expected ws://IP:PORT, found ${JSON.stringify(text)}`
      : `expected ${FORMS}, found ${JSON.stringify(text)}`;
  const [, bracketed, plain = '', digits = ''] = socket;
  const host = bracketed ?? plain;
  if (isIP(host) !== (bracketed === undefined ? 4 : 6))
    return `expected an IP address, such as 127.0.0.1 or [::1], found ${JSON.stringify(host)}`;
  const port = Number(digits);
  return port > PORT_MAX
    ? `expected a port of at most ${PORT_MAX}, found ${digits}`
    : { kind: 'ws', host, port };
}

/** Whether only this machine can reach an IP address. */
export function isLoopback(host: string): boolean {
  return /^127\./.test(host) || /^(?:0*:){2,7}0*1$/.test(host) || /^::ffff:127\./i.test(host);
}

/** The URL of a web socket at this IP address and port. */
export function socketUrl({ host, port }: { host: string; port: number }): string {
  return `ws://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
