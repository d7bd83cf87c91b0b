import { LOOPBACK } from '../policy/network/host-loopback.ts';

/** The address at which a command reaches its proxy. */
export interface ProxyAddress {
  port: number;
  /** The user and password that the proxy asks for, as they stand in a URL. Null: none. */
  credential: string | null;
}

interface ProxyOptions extends ProxyAddress {
  /** The names of the loopback that the command reaches through its proxy. */
  hostLoopback: readonly string[] | undefined;
}

const NAMES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'WS_PROXY', 'WSS_PROXY'];
/**
 * Variables of single programs for other proxies. The programs prefer them, and cannot reach those
 * proxies.
 */
const OTHERS =
  /^((npm_config|yarn|global_agent)_(https?_|no_?)?|pip_|ftp_|rsync_|socks5?_|cargo_http_|(no_)?grpc_)proxy$/i;

/**
 * Returns the environment with the variables by which programs find their proxy. Variables of
 * single programs are not set: these programs read the others, too, and some fail on names that
 * they do not know. All have HTTP URLs: the proxy speaks SOCKS5 at the same address, but some
 * programs fail if they find the URL of a SOCKS proxy and cannot use it.
 */
export function proxyEnvironment(
  env: Readonly<Record<string, string>>,
  { port, credential, hostLoopback = [] }: ProxyOptions,
): Record<string, string> {
  const url = `http://${credential === null ? '' : `${credential}@`}127.0.0.1:${port}`;
  const direct = LOOPBACK.filter((host) => !hostLoopback.includes(host)).join(',');
  const variables = [...NAMES.map((name) => [name, url] as const), ['NO_PROXY', direct] as const];
  return {
    ...Object.fromEntries(Object.entries(env).filter(([name]) => !OTHERS.test(name))),
    ...Object.fromEntries(
      variables.flatMap(([name, value]) => [
        [name, value] as const,
        [name.toLowerCase(), value] as const,
      ]),
    ),
    NODE_USE_ENV_PROXY: '1',
    CODEX_NETWORK_PROXY_ACTIVE: '1',
  };
}
