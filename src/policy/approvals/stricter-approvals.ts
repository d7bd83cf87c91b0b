import { permitsNoMore } from '../../config/strictness/asks-as-much.ts';
import type { AskForApproval } from '../../protocol/generated/types.ts';

/**
 * Returns the wanted policy if it allows no more than the limit: nothing can be approved that the
 * limit refuses, and nothing runs without a question that the limit asks about. Otherwise returns
 * the limit. `isBounded`: there is a sandbox.
 */
export function stricterApprovals(
  wanted: AskForApproval,
  limit: AskForApproval,
  isBounded = true,
): AskForApproval {
  return permitsNoMore(wanted, limit, isBounded) ? wanted : limit;
}
