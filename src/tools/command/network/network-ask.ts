import { type NetworkRule, ruleProtocol } from '../../../policy/network/network-rule.ts';
import { targetUrl } from '../../../policy/network/network-target.ts';
import { readHost } from '../../../policy/network/read-host.ts';
import type {
  CommandExecutionApprovalDecision,
  NetworkPolicyAmendment,
  ServerRequests,
} from '../../../protocol/generated/types.ts';
import {
  type Ask,
  decisionVerdict,
  type PlannedAction,
  UNCONFINED,
  type Verdict,
} from '../../action.ts';
import { unanswered } from '../../denial.ts';
import { approvalParams } from '../approval-params.ts';
import type { CommandRun } from '../command-run.ts';
import type { HostQuestion } from './network-access.ts';

interface NetworkQuestion extends HostQuestion {
  /** Distinguishes the questions about one command. */
  approvalId: string;
  /** Withdraws the question. */
  signal: AbortSignal;
  /**
   * Stores the rule of a person who decides about the host from now on. Returns the problem for the
   * user, or null.
   */
  store(rule: NetworkRule): string | null;
  /** Warns the clients. */
  warn(message: string): Promise<void>;
}

/** The question whether a running command may reach a host. */
export function networkAsk(run: CommandRun, question: NetworkQuestion): Ask {
  return {
    permit: UNCONFINED,
    signal: question.signal,
    describe: () => plannedAccess(run, question),
    async askPerson(ask) {
      const answer = await ask({
        method: 'item/commandExecution/requestApproval',
        params: requestParams(run, question),
      });
      return answer.type === 'result'
        ? verdict(answer.result.decision, question)
        : unanswered(answer);
    },
  };
}

function plannedAccess(
  { call, context }: CommandRun,
  { target, reason }: NetworkQuestion,
): PlannedAction {
  const { host, port, protocol } = target;
  const url = targetUrl(target);
  return {
    targetItemId: context.itemId,
    shown: { type: 'networkAccess', target: url, host, protocol, port },
    planned: {
      tool: 'network_access',
      target: url,
      host,
      port,
      protocol,
      command: [...call.argv],
      cwd: call.cwd,
      note: NOTE,
    },
    claims: { reason },
  };
}

const NOTE =
  'The command runs already and waits for this connection. Only the connection is new. A tunnel can carry anything.';

function requestParams(
  run: CommandRun,
  { target, reason, settles, approvalId }: NetworkQuestion,
): ServerRequests['item/commandExecution/requestApproval']['params'] {
  const { host, port, protocol } = target;
  const amendments = proposedAmendments(target.host, settles);
  const lasting = amendments.map((amendment) => ({
    applyNetworkPolicyAmendment: { network_policy_amendment: amendment },
  }));
  return approvalParams(run, {
    approvalId,
    reason: `The command wants to connect to ${host}, port ${port}. ${reason}`,
    networkApprovalContext: { host, protocol, port },
    proposedNetworkPolicyAmendments: amendments.length === 0 ? null : amendments,
    availableDecisions: ['accept', 'acceptForSession', ...lasting, 'decline', 'cancel'],
  });
}

/** No rule is proposed that would not allow this target. */
function proposedAmendments(host: string, settles: boolean): NetworkPolicyAmendment[] {
  const denies: NetworkPolicyAmendment = { host, action: 'deny' };
  return settles ? [{ host, action: 'allow' }, denies] : [denies];
}

async function verdict(
  decision: CommandExecutionApprovalDecision,
  { target, store, warn }: NetworkQuestion,
): Promise<Verdict> {
  if (typeof decision === 'string') return decisionVerdict(decision, UNCONFINED);
  if (!('applyNetworkPolicyAmendment' in decision)) {
    // Not offered. The person wants the command to go on.
    await warn(
      `The rule was not stored: the question was about the host ${target.host}, not about a command.`,
    );
    return decisionVerdict('accept', UNCONFINED);
  }
  const { host, action } = decision.applyNetworkPolicyAmendment.network_policy_amendment;
  const problem = store({
    host,
    protocol: ruleProtocol(target.protocol),
    decision: action,
    justification: null,
  });
  if (problem !== null) await warn(problem);
  if (action === 'deny') return decisionVerdict('decline', UNCONFINED);
  // Until the rule is read, and if it cannot be stored. Nobody was asked about another host.
  return decisionVerdict(
    readHost(host) === target.host ? 'acceptForSession' : 'accept',
    UNCONFINED,
  );
}
