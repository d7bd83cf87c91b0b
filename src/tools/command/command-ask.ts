import { appendAllowRule } from '../../config/rules-files.ts';
import { commandActions } from '../../policy/command/command-actions.ts';
import { quoteWords } from '../../policy/command/quote-words.ts';
import type { Permit } from '../../policy/permissions/permit.ts';
import { shownPermissions } from '../../policy/permissions/read-permissions.ts';
import type { CommandExecutionApprovalDecision, ServerRequests } from '../../protocol/generated/types.ts';
import { type ActionHost, type Ask, decisionVerdict, unanswered, type Verdict } from '../action.ts';
import type { CommandRun } from './command-run.ts';

interface CommandQuestion {
  /** For the person who decides; null: the command says it all. */
  reason: string | null;
  /** What `Grants.allowCommand` takes when the command is accepted for the session. */
  key: string;
  /** The words of a rule that would allow the command from now on; null: none is proposed. */
  proposedAmendment: readonly string[] | null;
  /** Tells several questions about one item apart. */
  approvalId: string | null;
  permit: Permit;
}

/** Asks whether a command may run. A rule that the answer accepts is stored in the home. */
export function commandAsk(run: CommandRun, question: CommandQuestion): Ask {
  const { permit, key } = question;
  return {
    permit,
    async askPerson(ask) {
      const answer = await ask({ method: 'item/commandExecution/requestApproval', params: requestParams(run, question) });
      return answer.type === 'result' ? verdict(answer.result.decision, permit) : unanswered(answer);
    },
    async keep({ scope, rule }, host) {
      if (scope === 'session') run.context.grants.allowCommand(key);
      if (rule !== undefined) await storeRule(run, rule, host);
    },
  };
}

function requestParams(
  { call, command, context, deps, permissions }: CommandRun,
  { reason, proposedAmendment, approvalId }: CommandQuestion,
): ServerRequests['item/commandExecution/requestApproval']['params'] {
  const amendment = proposedAmendment === null ? null : [...proposedAmendment];
  return {
    threadId: context.threadId,
    turnId: context.turnId,
    itemId: context.itemId,
    approvalId,
    environmentId: 'local',
    additionalPermissions: permissions === null ? null : shownPermissions(permissions),
    kind: 'command',
    startedAtMs: deps.clock.now(),
    reason,
    command: quoteWords(call.argv),
    cwd: call.cwd,
    commandActions: commandActions(command, call.cwd),
    networkApprovalContext: null,
    proposedExecpolicyAmendment: amendment,
    proposedNetworkPolicyAmendments: null,
    availableDecisions: availableDecisions(amendment),
  };
}

function availableDecisions(amendment: string[] | null): CommandExecutionApprovalDecision[] {
  const lasting = amendment === null ? [] : [{ acceptWithExecpolicyAmendment: { execpolicy_amendment: amendment } }];
  return ['accept', 'acceptForSession', ...lasting, 'decline', 'cancel'];
}

function verdict(decision: CommandExecutionApprovalDecision, allow: Permit): Verdict {
  if (typeof decision === 'string') return decisionVerdict(decision, allow);
  if ('acceptWithExecpolicyAmendment' in decision)
    return { allow, scope: 'always', rule: decision.acceptWithExecpolicyAmendment.execpolicy_amendment };
  // There are no rules for single hosts: the answer counts for this command.
  const { action } = decision.applyNetworkPolicyAmendment.network_policy_amendment;
  return decisionVerdict(action === 'allow' ? 'accept' : 'decline', allow);
}

/** The command runs even if the rule cannot be written; clients get a warning. */
async function storeRule({ context, deps }: CommandRun, prefix: readonly string[], { emit }: ActionHost): Promise<void> {
  // A rule without words would allow everything.
  if (prefix.length === 0) return;
  try {
    appendAllowRule(deps.home, prefix);
  } catch (error) {
    const message = `The rule could not be stored, so the command will need approval again: ${error instanceof Error ? error.message : String(error)}`;
    await emit({ method: 'warning', params: { threadId: context.threadId, message } });
  }
}
