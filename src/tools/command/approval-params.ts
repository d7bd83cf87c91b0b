import { commandActions } from '../../policy/command/command-actions.ts';
import { quoteWords } from '../../policy/parse/quote-words.ts';
import type { ServerRequests } from '../../protocol/generated/types.ts';
import type { CommandRun } from './command-run.ts';

type Params = ServerRequests['item/commandExecution/requestApproval']['params'];
/**
 * The properties that distinguish a question from others about the same command. Those that are
 * left out are null.
 */
type Question = Pick<Params, 'approvalId' | 'reason' | 'availableDecisions'> & Partial<Params>;

/** The params of a question about a command. */
export function approvalParams(
  { call, command, context, services }: CommandRun,
  question: Question,
): Params {
  return {
    threadId: context.threadId,
    turnId: context.turnId,
    itemId: context.itemId,
    environmentId: 'local',
    additionalPermissions: null,
    kind: 'command',
    startedAtMs: services.clock.now(),
    command: quoteWords(call.argv),
    cwd: call.cwd,
    commandActions: commandActions(command, call.cwd),
    networkApprovalContext: null,
    proposedExecpolicyAmendment: null,
    proposedNetworkPolicyAmendments: null,
    ...question,
  };
}
