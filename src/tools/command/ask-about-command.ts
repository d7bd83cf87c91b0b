import { appendAllowRule } from '../../config/rules-files.ts';
import { commandActions } from '../../policy/command/command-actions.ts';
import { quoteWords } from '../../policy/command/quote-words.ts';
import { shownPermissions } from '../../policy/permissions/read-permissions.ts';
import type { CommandExecutionApprovalDecision } from '../../protocol/generated/types.ts';
import type { CommandRun } from './command-run.ts';

export type Decision = 'accept' | 'decline' | 'cancel';

interface CommandQuestion {
  reason: string | null;
  /** What is allowed when it is accepted for the session. */
  key: string;
  proposedAmendment: readonly string[] | null;
  /** Tells several questions about one item apart. */
  approvalId: string | null;
  opening?: () => Promise<unknown>;
}

/** Asks whether a command may run, and does what the answer says beyond that. No answer, or one that is an error, is a no. */
export async function askAboutCommand(run: CommandRun, question: CommandQuestion, signal: AbortSignal): Promise<Decision> {
  const { call, command, context, deps, permissions } = run;
  const { reason, proposedAmendment, approvalId, opening } = question;
  const amendment = proposedAmendment === null ? null : [...proposedAmendment];
  const answer = await context.approvals.ask(
    {
      method: 'item/commandExecution/requestApproval',
      params: {
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
      },
      ...(opening === undefined ? {} : { opening }),
    },
    signal,
  );
  return answer.type === 'result' && !signal.aborted ? decide(run, question.key, answer.result.decision) : 'decline';
}

function availableDecisions(amendment: string[] | null): CommandExecutionApprovalDecision[] {
  const lasting = amendment === null ? [] : [{ acceptWithExecpolicyAmendment: { execpolicy_amendment: amendment } }];
  return ['accept', 'acceptForSession', ...lasting, 'decline', 'cancel'];
}

async function decide(run: CommandRun, key: string, decision: CommandExecutionApprovalDecision): Promise<Decision> {
  if (decision === 'acceptForSession') {
    run.context.approvals.grants.allowCommand(key);
    return 'accept';
  }
  if (typeof decision === 'string') return decision;
  if ('acceptWithExecpolicyAmendment' in decision) {
    await allow(run, decision.acceptWithExecpolicyAmendment.execpolicy_amendment);
    return 'accept';
  }
  // Hosts are not told apart: what is answered counts for this command.
  return decision.applyNetworkPolicyAmendment.network_policy_amendment.action === 'allow' ? 'accept' : 'decline';
}

/** The command runs all the same where the rule cannot be written; clients are told. */
async function allow({ context, deps }: CommandRun, prefix: readonly string[]): Promise<void> {
  // A rule without words would allow everything.
  if (prefix.length === 0) return;
  try {
    appendAllowRule(deps.home, prefix);
  } catch (error) {
    const message = `The rule could not be stored, so the command will be asked about again: ${error instanceof Error ? error.message : String(error)}`;
    await context.emit({ method: 'warning', params: { threadId: context.threadId, message } });
  }
}
