import type { DomainPattern } from './domain-pattern.ts';

/** The configuration of the connections of sandboxed commands. */
export interface NetworkPolicy {
  /** `limited`: only plain HTTP requests that change nothing. */
  mode: 'full' | 'limited';
  /** In the order of the configuration. An entry that denies wins over all that allow. */
  domains: readonly DomainEntry[];
  /**
   * Whether commands may reach private addresses and names that lead to them, if the host is
   * allowed.
   */
  allowsPrivate: boolean;
  /** Whether the proxy speaks SOCKS5, too. */
  socks: boolean;
  /**
   * Further policies that limit all connections: those of the threads that an agent works for.
   * Default: none.
   */
  also?: readonly NetworkPolicy[];
}

export interface DomainEntry {
  pattern: DomainPattern;
  access: 'allow' | 'deny';
}
