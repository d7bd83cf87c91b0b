/** The address at which a command reaches its proxy. */
export interface ProxyAddress {
  port: number;
  /** The user and password that the proxy asks for, as they stand in a URL. Null: none. */
  credential: string | null;
}

const HTTP_NAMES = ['HTTP_PROXY', 'HTTPS_PROXY', 'WS_PROXY', 'WSS_PROXY'];
/** The command's own loopback: its connections there need no proxy. */
const DIRECT = 'localhost,127.0.0.1,::1';

/**
 * Returns the variables by which programs find their proxy. Other names, such as those of single package managers, are not set: their
 * programs read these, and some fail on names that they do not know.
 */
export function proxyEnvironment({ port, credential }: ProxyAddress): Record<string, string> {
  const place = `${credential === null ? '' : `${credential}@`}127.0.0.1:${port}`;
  const variables: [name: string, value: string][] = [
    ...HTTP_NAMES.map((name): [string, string] => [name, `http://${place}`]),
    ['ALL_PROXY', `socks5h://${place}`],
    ['NO_PROXY', DIRECT],
  ];
  return {
    ...Object.fromEntries(variables.flatMap(([name, value]) => [[name, value] as const, [name.toLowerCase(), value] as const])),
    NODE_USE_ENV_PROXY: '1',
    CODEX_NETWORK_PROXY_ACTIVE: '1',
  };
}
