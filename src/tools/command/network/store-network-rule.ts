import { appendNetworkRule } from '../../../config/rules-files.ts';
import { coversPort, type NetworkRule } from '../../../policy/network/network-rule.ts';
import type { NetworkTarget } from '../../../policy/network/network-target.ts';
import { readHost } from '../../../policy/network/read-host.ts';
import { networkRuleLine } from '../../../policy/network/read-network-rule.ts';

/**
 * Stores a person's rule about the host of a target in `rules/default.rules` of the home. A rule about another host is not stored,
 * because nobody was asked about it. Returns the problem for the user, or null.
 */
export function storeNetworkRule(home: string, rule: NetworkRule, target: NetworkTarget): string | null {
  if (readHost(rule.host) !== target.host) return `The rule was not stored: the question was about ${target.host}.`;
  if (rule.decision === 'allow' && !coversPort(target.protocol, target.port)) {
    return `The rule was not stored: rules name no port, and it would not allow port ${target.port}.`;
  }
  try {
    appendNetworkRule(home, networkRuleLine({ ...rule, host: target.host }));
    return null;
  } catch (error) {
    return `The rule could not be stored: ${error instanceof Error ? error.message : String(error)}.`;
  }
}
