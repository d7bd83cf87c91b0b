import { quoteWords } from '../../policy/parse/quote-words.ts';
import type { Permit } from '../../policy/permissions/permit.ts';
import { clientPermissions } from '../../policy/permissions/read-permissions.ts';
import type {
  CommandExecutionApprovalDecision,
  ServerRequests,
} from '../../protocol/generated/types.ts';
import { type Ask, decisionVerdict, type PlannedAction, type Verdict } from '../action.ts';
import { unanswered } from '../denial.ts';
import { approvalParams } from './approval-params.ts';
import type { CommandRun } from './command-run.ts';
import { storeRule } from './store-rule.ts';

interface CommandQuestion {
  /** For the person who decides. Null: no reason beyond the command itself. */
  reason: string | null;
  /**
   * The key for `SessionGrants.allowCommand` if the command is accepted for the session. Null: it
   * cannot be recognized again.
   */
  key: string | null;
  /**
   * The words of a rule that would allow the command in this project from now on. Null: no rule is
   * proposed.
   */
  proposedAmendment: readonly string[] | null;
  /** Distinguishes several questions about one item. Null: the first question. */
  approvalId: string | null;
  permit: Permit;
  /** A part of the turn demands the approval, each time. */
  isDemanded?: true;
}

const UNCOMPARED =
  'heddle does not know all files that the command depends on, so it does not check whether they change before the command starts. ' +
  'An approval is for this one run.';

/**
 * The question whether a command may run. If the answer accepts a rule, the rule is stored in the
 * home. If the command cannot be recognized again, accepting it for the session accepts it once.
 */
export function commandAsk(run: CommandRun, question: CommandQuestion): Ask {
  const { permit, key } = question;
  return {
    permit,
    describe: () => plannedCommand(run, question),
    async askPerson(ask) {
      const answer = await ask({
        method: 'item/commandExecution/requestApproval',
        params: requestParams(run, question),
      });
      return answer.type === 'result'
        ? verdict(answer.result.decision, permit)
        : unanswered(answer);
    },
    async keep({ scope, rule }, host) {
      if (scope === 'session' && key !== null) run.context.grants.allowCommand(key);
      if (rule !== undefined) await storeRule(run, { words: rule, permit }, host);
    },
  };
}

/** A command that is planned to run within the permit. */
export function plannedCommand(
  { call, context, permissions, pin }: CommandRun,
  { reason, permit }: Pick<CommandQuestion, 'reason' | 'permit'>,
): PlannedAction {
  const { cwd, tty } = call;
  return {
    targetItemId: context.itemId,
    shown: {
      type: 'command',
      command: quoteWords(call.argv),
      cwd,
      source: call.yields ? 'unifiedExec' : 'shell',
      stdin: null,
    },
    planned: {
      tool: 'exec_command',
      command: [...call.argv],
      cwd,
      runs: permit.sandboxed
        ? 'inside the sandbox'
        : 'outside the sandbox, with all permissions of the user',
      additionalPermissions:
        permissions === null
          ? null
          : { ...permissions, read: [...permissions.read], write: [...permissions.write] },
      tty,
    },
    ...(pin !== null &&
      !(permit.sandboxed && permissions === null) && {
        files: pin.identity === null ? null : Object.fromEntries(pin.identity),
      }),
    claims: { justification: call.justification, reason },
  };
}

function requestParams(
  run: CommandRun,
  { reason, key, proposedAmendment, approvalId, isDemanded }: CommandQuestion,
): ServerRequests['item/commandExecution/requestApproval']['params'] {
  const amendment = proposedAmendment === null ? null : [...proposedAmendment];
  return approvalParams(run, {
    approvalId,
    additionalPermissions: run.permissions === null ? null : clientPermissions(run.permissions),
    reason:
      key === null && !isDemanded
        ? [reason, UNCOMPARED].filter((text) => text !== null).join(' ')
        : reason,
    proposedExecpolicyAmendment: amendment,
    availableDecisions: availableDecisions(key, amendment),
  });
}

function availableDecisions(
  key: string | null,
  amendment: string[] | null,
): CommandExecutionApprovalDecision[] {
  const lasting =
    amendment === null
      ? []
      : [{ acceptWithExecpolicyAmendment: { execpolicy_amendment: amendment } }];
  return [
    'accept',
    ...(key === null ? [] : (['acceptForSession'] as const)),
    ...lasting,
    'decline',
    'cancel',
  ];
}

function verdict(decision: CommandExecutionApprovalDecision, allow: Permit): Verdict {
  if (typeof decision === 'string') return decisionVerdict(decision, allow);
  if ('acceptWithExecpolicyAmendment' in decision)
    return {
      allow,
      scope: 'always',
      rule: decision.acceptWithExecpolicyAmendment.execpolicy_amendment,
    };
  // Not offered: the question was about no host. The answer applies to this command only.
  const { action } = decision.applyNetworkPolicyAmendment.network_policy_amendment;
  return decisionVerdict(action === 'allow' ? 'accept' : 'decline', allow);
}
