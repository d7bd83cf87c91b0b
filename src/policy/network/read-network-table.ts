import type { Config } from '../../config/config.ts';
import { choice, flag, nullable } from '../../config/settings.ts';
import { readDomainPattern } from './domain-pattern.ts';
import type { DomainEntry, NetworkPolicy } from './network-policy.ts';

/** The settings about the network in one table of the configuration. Null: the table does not set it. */
export interface NetworkTable {
  mode: NetworkPolicy['mode'] | null;
  /** By the text of the pattern. */
  domains: ReadonlyMap<string, DomainEntry>;
  allowsPrivate: boolean | null;
  socks: boolean | null;
}

/** The keys that `readNetworkTable` reads. */
const NETWORK_KEYS = ['mode', 'domains', 'allow_local_binding', 'enable_socks5'] as const;

/** Settings of other programs that read this table, and why heddle does not have them. As false, they ask for nothing. */
const NOT_SUPPORTED: ReadonlyMap<string, string> = new Map([
  ['allow_upstream_proxy', 'the proxy of heddle connects to hosts directly'],
  ['dangerously_allow_all_unix_sockets', 'it is a setting of permission profiles and of `sandbox_workspace_write`'],
  ['credentials', 'the proxy of heddle does not read what commands send'],
  ['dangerously_allow_non_loopback_proxy', 'only the command itself can reach its proxy'],
  ['enable_socks5_udp', 'the proxy of heddle relays TCP only'],
  ['mitm', 'the proxy of heddle does not read what commands send'],
  ['proxy_url', 'heddle gives each command a proxy of its own, and chooses its port'],
  ['socks_url', 'heddle gives each command a proxy of its own, and chooses its port'],
  ['unix_sockets', 'heddle can only allow all unix sockets or none'],
]);

const NOT_SET: NetworkTable = { mode: null, domains: new Map(), allowsPrivate: null, socks: null };

/**
 * Reads the table at `path`, except the keys in `others`. Throws a ConfigError if a value is invalid, or if a key is unknown or sets
 * something that heddle does not have: it may be a limit.
 */
export function readNetworkTable(config: Config, path: readonly string[], others: readonly string[]): NetworkTable {
  for (const key of config.keys(path)) if (!others.includes(key)) requireSupported(config, [...path, key]);
  return {
    mode: config.read([...path, 'mode'], nullable(choice(['full', 'limited'], 'full'))),
    domains: new Map(config.keys([...path, 'domains']).map((text) => [text, readEntry(config, [...path, 'domains', text])])),
    allowsPrivate: config.read([...path, 'allow_local_binding'], nullable(flag())),
    socks: config.read([...path, 'enable_socks5'], nullable(flag())),
  };
}

/** Whether the table sets anything. */
export function setsNetwork({ mode, domains, allowsPrivate, socks }: NetworkTable): boolean {
  return mode !== null || domains.size > 0 || allowsPrivate !== null || socks !== null;
}

/** Returns the settings of several tables. Those of a later table win. */
export function mergedNetwork(tables: readonly NetworkTable[]): NetworkTable {
  return tables.reduce(
    (below, table) => ({
      mode: table.mode ?? below.mode,
      domains: new Map([...below.domains, ...table.domains]),
      allowsPrivate: table.allowsPrivate ?? below.allowsPrivate,
      socks: table.socks ?? below.socks,
    }),
    NOT_SET,
  );
}

/** Returns the policy of a table, with the defaults of what it does not set. */
export function networkPolicyOf({ mode, domains, allowsPrivate, socks }: NetworkTable): NetworkPolicy {
  return { mode: mode ?? 'full', domains: [...domains.values()], allowsPrivate: allowsPrivate ?? false, socks: socks ?? true };
}

function requireSupported(config: Config, path: readonly string[]): void {
  const key = path.at(-1) ?? '';
  if (NETWORK_KEYS.some((known) => known === key)) return;
  const reason = NOT_SUPPORTED.get(key);
  if (reason === undefined) throw config.error(path, `unknown key, expected one of ${NETWORK_KEYS.join(', ')}`);
  const isOff = config.read(path, { expected: 'any value', absent: true, read: (value) => value === false });
  if (!isOff) throw config.error(path, `${reason}, so this cannot be set`);
}

function readEntry(config: Config, path: readonly string[]): DomainEntry {
  const text = path.at(-1) ?? '';
  const pattern = readDomainPattern(text);
  if (pattern === null) throw config.error(path, 'expected a host, or a pattern such as `*.example.com`, `**.example.com` or `*`');
  const access = config.read(path, ACCESS);
  if (pattern.type === 'all' && access === 'deny')
    throw config.error(path, '`*` can only be allowed: what nothing allows needs approval anyway');
  return { pattern, access };
}

const ACCESS = choice(['allow', 'deny'], 'deny');
