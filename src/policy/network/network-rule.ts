import type { NetworkProtocol } from './network-target.ts';

/**
 * The names of protocols in rules files. heddle relays no UDP, so a rule for it has no effect
 * unless it denies.
 */
export const RULE_PROTOCOLS = ['http', 'https', 'socks5_tcp', 'socks5_udp'] as const;
export type RuleProtocol = (typeof RULE_PROTOCOLS)[number];

/**
 * A `network_rule` of a rules file: the decision about connections to a host. The strictest rule
 * that matches applies.
 */
export interface NetworkRule {
  /** As `readHost` returns it. */
  host: string;
  protocol: RuleProtocol;
  decision: 'allow' | 'prompt' | 'deny';
  /** The reason, for the person who is asked and for the model that is refused. */
  justification: string | null;
}

/**
 * Rules name no ports, so a rule that allows does so only for the port that its protocol is for.
 * Null: for all.
 */
const PORTS: Record<NetworkProtocol, number | null> = { http: 80, https: 443, socks5Tcp: null };
const NAMES: Record<NetworkProtocol, RuleProtocol> = {
  http: 'http',
  https: 'https',
  socks5Tcp: 'socks5_tcp',
};

/** Returns the protocol of a target as rules name it. */
export function ruleProtocol(protocol: NetworkProtocol): RuleProtocol {
  return NAMES[protocol];
}

/** Whether a rule that allows this protocol also allows this port. */
export function coversPort(protocol: NetworkProtocol, port: number): boolean {
  return PORTS[protocol] === null || PORTS[protocol] === port;
}
