import { appendRule } from '../../../config/rules-files.ts';
import { coversPort, type NetworkRule } from '../../../policy/network/network-rule.ts';
import { readHost } from '../../../policy/network/read-host.ts';
import { networkRuleLine } from '../../../policy/rules/read-network-rule.ts';
import type { HostQuestion } from './network-access.ts';

/**
 * Stores a person's rule about the host of a question in `rules/default.rules` of the home. A rule
 * about another host is not stored, because nobody was asked about it, and neither is one that
 * would have no effect. Returns the problem for the user, or null.
 */
export function storeNetworkRule(
  home: string,
  rule: NetworkRule,
  { target, settles }: Pick<HostQuestion, 'target' | 'settles'>,
): string | null {
  if (readHost(rule.host) !== target.host)
    return `The rule was not stored: the question was about ${target.host}.`;
  if (rule.decision === 'allow' && !coversPort(target.protocol, target.port)) {
    return `The rule was not stored: rules name no port, and it would not allow port ${target.port}.`;
  }
  if (rule.decision === 'allow' && !settles)
    return `The rule was not stored: it would not allow ${target.host}, because ${WHY_NOT}.`;
  try {
    appendRule(home, networkRuleLine({ ...rule, host: target.host }));
    return null;
  } catch (error) {
    return `The rule could not be stored: ${error instanceof Error ? error.message : String(error)}.`;
  }
}

const WHY_NOT = 'another rule requires approval for it, or a rules file cannot be read';
