import type { Config } from '../../config/config.ts';
import { choice, flag, nullable } from '../../config/settings/setting.ts';
import { valueAt } from '../../config/toml/config-table.ts';
import { patternText, readDomainPattern } from './domain-pattern.ts';
import type { DomainEntry, NetworkPolicy } from './network-policy.ts';

/**
 * The settings about the network in one table of the configuration. Null: the table does not set
 * it.
 */
export interface NetworkTable {
  mode: NetworkPolicy['mode'] | null;
  /** By the text of the pattern. An empty one allows no host. */
  domains: Domains | null;
  allowsPrivate: boolean | null;
  socks: boolean | null;
}

type Domains = ReadonlyMap<string, DomainEntry>;

/** The keys that `readNetworkTable` reads. */
const NETWORK_KEYS = ['mode', 'domains', 'allow_local_binding', 'enable_socks5'] as const;

/**
 * Settings of other programs that read this table, and why heddle does not have them. As false,
 * they ask for nothing.
 */
const NOT_SUPPORTED: ReadonlyMap<string, string> = new Map([
  ['allow_upstream_proxy', 'the proxy of heddle connects to hosts directly'],
  [
    'dangerously_allow_all_unix_sockets',
    'it is a setting of permission profiles and of `sandbox_workspace_write`',
  ],
  ['credentials', 'the proxy of heddle does not read what commands send'],
  ['dangerously_allow_non_loopback_proxy', 'only the command itself can reach its proxy'],
  ['enable_socks5_udp', 'the proxy of heddle relays TCP only'],
  ['mitm', 'the proxy of heddle does not read what commands send'],
  ['proxy_url', 'heddle gives each command a proxy of its own, and chooses its port'],
  ['socks_url', 'heddle gives each command a proxy of its own, and chooses its port'],
  ['unix_sockets', 'heddle can only allow all unix sockets or none'],
]);

/** The table that sets nothing. */
export const NO_LIMITS: NetworkTable = {
  mode: null,
  domains: null,
  allowsPrivate: null,
  socks: null,
};

/**
 * Reads the table at `path`, except the keys in `others`. Throws a ConfigError if a value is
 * invalid, or if a key is unknown or sets something that heddle does not have: it may be a limit.
 */
export function readNetworkTable(
  config: Config,
  path: readonly string[],
  others: readonly string[],
): NetworkTable {
  for (const key of config.keys(path))
    if (!others.includes(key)) requireSupported(config, [...path, key]);
  return {
    mode: config.read([...path, 'mode'], nullable(choice(['full', 'limited'], 'full'))),
    domains: readDomains(config, [...path, 'domains']),
    allowsPrivate: config.read([...path, 'allow_local_binding'], nullable(flag())),
    socks: config.read([...path, 'enable_socks5'], nullable(flag())),
  };
}

/** Whether the table sets anything. */
export function setsNetwork({ mode, domains, allowsPrivate, socks }: NetworkTable): boolean {
  return mode !== null || domains !== null || allowsPrivate !== null || socks !== null;
}

/** Returns the settings of a table that extends another one: its own replace those of the other. */
export function extendedNetwork(base: NetworkTable, table: NetworkTable): NetworkTable {
  return {
    mode: table.mode ?? base.mode,
    domains:
      base.domains === null ? table.domains : new Map([...base.domains, ...(table.domains ?? [])]),
    allowsPrivate: table.allowsPrivate ?? base.allowsPrivate,
    socks: table.socks ?? base.socks,
  };
}

/**
 * Returns the settings of two tables that both apply: of each setting the stricter one, and the
 * entries of both.
 */
export function strictestNetwork(one: NetworkTable, other: NetworkTable): NetworkTable {
  return {
    mode: one.mode === 'limited' ? one.mode : (other.mode ?? one.mode),
    domains:
      one.domains === null
        ? other.domains
        : strictestDomains([...one.domains.values(), ...(other.domains?.values() ?? [])]),
    allowsPrivate: one.allowsPrivate === false ? false : (other.allowsPrivate ?? one.allowsPrivate),
    socks: one.socks === false ? false : (other.socks ?? one.socks),
  };
}

/** Returns the policy of a table, with the defaults of what it does not set. */
export function networkPolicyOf({
  mode,
  domains,
  allowsPrivate,
  socks,
}: NetworkTable): NetworkPolicy {
  return {
    mode: mode ?? 'full',
    domains: [...(domains?.values() ?? [])],
    allowsPrivate: allowsPrivate ?? false,
    socks: socks ?? true,
  };
}

function requireSupported(config: Config, path: readonly string[]): void {
  const key = path.at(-1) ?? '';
  if (NETWORK_KEYS.some((known) => known === key)) return;
  const reason = NOT_SUPPORTED.get(key);
  if (reason === undefined)
    throw config.error(path, `unknown key, expected one of ${NETWORK_KEYS.join(', ')}`);
  const isOff = config.read(path, {
    expected: 'any value',
    absent: true,
    read: (value) => value === false,
  });
  if (!isOff) throw config.error(path, `${reason}, so this cannot be set`);
}

function readDomains(config: Config, path: readonly string[]): Domains | null {
  const entries = config.keys(path).map((text) => readEntry(config, [...path, text]));
  return entries.length > 0 || valueAt(config.values, path) !== undefined
    ? strictestDomains(entries)
    : null;
}

/** Of several entries for one pattern, one that denies wins. */
function strictestDomains(entries: readonly DomainEntry[]): Domains {
  const domains = new Map<string, DomainEntry>();
  for (const entry of entries) {
    const text = patternText(entry.pattern);
    if (entry.access === 'deny' || !domains.has(text)) domains.set(text, entry);
  }
  return domains;
}

function readEntry(config: Config, path: readonly string[]): DomainEntry {
  const text = path.at(-1) ?? '';
  const pattern = readDomainPattern(text);
  if (pattern === null)
    throw config.error(
      path,
      'expected a host, or a pattern such as `*.example.com`, `**.example.com` or `*`',
    );
  const access = config.read(path, ACCESS);
  if (pattern.type === 'all' && access === 'deny')
    throw config.error(path, '`*` can only be allowed: what nothing allows needs approval anyway');
  return { pattern, access };
}

const ACCESS = choice(['allow', 'deny'], 'deny');
