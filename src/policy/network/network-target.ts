import { hostInUrl } from './read-host.ts';

/** How a command asks its proxy for a connection. `https` is a tunnel, which can carry anything. */
export type NetworkProtocol = 'http' | 'https' | 'socks5Tcp';

/** The other end of a connection that a command asks for. */
export interface NetworkTarget {
  /** As `readHost` returns it. */
  host: string;
  port: number;
  protocol: NetworkProtocol;
}

const SCHEMES: Record<NetworkProtocol, string> = {
  http: 'http',
  https: 'https',
  socks5Tcp: 'socks5',
};

/** Returns the target as a URL, always with its port. Different targets have different URLs. */
export function targetUrl({ host, port, protocol }: NetworkTarget): string {
  return `${SCHEMES[protocol]}://${hostInUrl(host)}:${port}`;
}
