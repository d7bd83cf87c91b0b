import type { Clock } from '../../../base/clock.ts';
import type { Log } from '../../../base/log.ts';
import { readRuleFiles } from '../../../config/rules-files.ts';
import type { Dial } from '../../../network/checked-dial.ts';
import type { CommandProxy } from '../../../network/command-proxy.ts';
import type { NetworkPolicy } from '../../../policy/network/network-policy.ts';
import { Grants } from '../../../policy/permissions/grants.ts';
import { commandRules } from '../../../policy/rules/parse-rules.ts';
import { accessProxy } from './access-proxy.ts';
import { NetworkAccess } from './network-access.ts';

interface UnaskedProxyDeps {
  clock: Clock;
  log: Log;
  dial: Dial;
  /** Heddle's home, an absolute path. */
  home: string;
}

/** The proxy of a command that is not the model's: it reaches only what the configuration and the rules allow, and nobody is asked. */
export function unaskedProxy(policy: NetworkPolicy, deps: UnaskedProxyDeps): CommandProxy {
  const access = new NetworkAccess({
    policy,
    approvalPolicy: null,
    grants: new Grants(),
    rules: async () => commandRules(await readRuleFiles(deps.home)),
    ask: async () => ({ deny: { by: 'unanswered' } }),
    whileAsking: { pause: () => {}, resume: () => {} },
    tell: () => {},
  });
  return accessProxy(access, { ...deps, socks: policy.socks });
}
