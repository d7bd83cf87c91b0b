import type { PausableTimers } from '../../../base/pausable-timers.ts';
import { readRuleFiles } from '../../../config/rules-files.ts';
import type { NetworkPolicy } from '../../../policy/network/network-policy.ts';
import { commandRules } from '../../../policy/rules/parse-rules.ts';
import type { ActionHost, Verdict } from '../../action.ts';
import type { OpenProxy } from '../command-proxies.ts';
import type { CommandRun } from '../command-run.ts';
import type { ShownCommand } from '../sessions/shown-command.ts';
import { accessProxy } from './access-proxy.ts';
import { type HostQuestion, NetworkAccess } from './network-access.ts';
import { networkAsk } from './network-ask.ts';
import { storeNetworkRule } from './store-network-rule.ts';

interface RunProxyOptions {
  policy: NetworkPolicy;
  host: ActionHost;
  /** The timers of the waits for the command. They are paused while a question is open. */
  timers: PausableTimers;
  shown: ShownCommand;
}

/**
 * The proxy of a command of the model. Its questions go to the reviewers of the turn; without the
 * turn, nobody is asked.
 */
export function runProxy(
  run: CommandRun,
  { policy, host, timers, shown }: RunProxyOptions,
): Promise<OpenProxy> {
  const { context, services } = run;
  let questions = 0;

  async function ask(question: HostQuestion, signal: AbortSignal): Promise<Verdict> {
    if (host.turnOver.aborted) return OVER;
    const asked = networkAsk(run, {
      ...question,
      approvalId: `network-${++questions}`,
      signal: AbortSignal.any([signal, host.turnOver]),
      store: (rule) => storeNetworkRule(services.machine.home, rule, question),
      warn: (message) =>
        host.emit({ method: 'warning', params: { threadId: context.threadId, message } }),
    });
    const verdict = await host.requestMore(asked);
    return host.turnOver.aborted && 'deny' in verdict ? OVER : verdict;
  }

  const access = new NetworkAccess({
    clock: services.clock,
    policy,
    get approvalPolicy() {
      return context.settings.approvalPolicy;
    },
    grants: context.grants,
    rules: async () => commandRules(await readRuleFiles(services.machine.home)),
    // The guardian reviews each command by itself, and many at a time.
    get questions() {
      return context.settings.approvalsReviewer === 'user' && !context.grants.reviewsAll
        ? services.sessions.hostQuestions
        : null;
    },
    ask,
    whileAsking: timers,
    tell: ({ url, reason }) => shown.tell(`No connection to ${url}: ${reason}`),
  });
  return accessProxy(access, services.machine.proxies, policy.socks);
}

const OVER: Verdict = {
  deny: {
    by: 'policy',
    reason:
      'The turn in which this command was started is over, so nobody can be asked about this host any more.',
  },
};
