import type { AskForApproval } from '../../protocol/generated/types.ts';
import { mayAsk } from '../approvals/may-ask.ts';
import type { CommandRequest } from './command-verdict.ts';

const LEAVES = 'The command asks to run outside the sandbox.';
const WIDENS = 'The command asks for more than the sandbox allows.';
const NEVER_BEYOND =
  'Rejected: under the approval policy never, commands cannot go beyond the sandbox. Run the command inside the sandbox, or do without it.';
const NO_APPROVALS_BEYOND =
  'Rejected: the approval policy does not allow requests to go beyond the sandbox. Run the command inside the sandbox, or do without it.';

/**
 * The refusal of a command that goes beyond the sandbox, if the policy allows no question about
 * that. Null: it does.
 */
export function beyondRefusal(policy: AskForApproval): string | null {
  if (mayAsk(policy, 'sandbox_approval')) return null;
  return policy === 'never' ? NEVER_BEYOND : NO_APPROVALS_BEYOND;
}

/** Why a command that goes beyond the sandbox needs approval. */
export function beyondReason({ justification, escalates }: CommandRequest): string {
  return justification ?? (escalates ? LEAVES : WIDENS);
}
