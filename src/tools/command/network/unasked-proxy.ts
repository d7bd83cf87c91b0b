import type { Clock } from '../../../base/clock.ts';
import { readRuleFiles } from '../../../config/rules-files.ts';
import type { NetworkPolicy } from '../../../policy/network/network-policy.ts';
import { SessionGrants } from '../../../policy/permissions/session-grants.ts';
import { commandRules } from '../../../policy/rules/parse-rules.ts';
import type { OpenProxy } from '../command-proxies.ts';
import type { Machine } from '../machine.ts';
import { accessProxy } from './access-proxy.ts';
import { NetworkAccess } from './network-access.ts';

/**
 * The proxy of a command that is not the model's: it reaches only what the configuration and the
 * rules allow, and nobody is asked.
 */
export function unaskedProxy(
  policy: NetworkPolicy,
  { clock, proxies, home }: Pick<Machine, 'proxies' | 'home'> & { clock: Clock },
): Promise<OpenProxy> {
  const access = new NetworkAccess({
    clock,
    policy,
    approvalPolicy: null,
    grants: new SessionGrants(),
    rules: async () => commandRules(await readRuleFiles(home)),
    questions: null,
    ask: async () => ({ deny: { by: 'unanswered' } }),
    whileAsking: { pause: () => {}, resume: () => {} },
    tell: () => {},
  });
  return accessProxy(access, proxies, policy.socks);
}
