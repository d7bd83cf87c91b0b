import type { AskForApproval } from '../../protocol/generated/types.ts';

const KINDS = ['sandbox_approval', 'rules', 'mcp_elicitations', 'request_permissions', 'skill_approval'] as const;

/**
 * Returns the wanted policy if it allows no more than the limit: no kind of request can be approved that the limit refuses, and if the
 * limit asks before a command runs in the sandbox, so does the wanted one. Otherwise returns the limit.
 */
export function stricterApprovals(wanted: AskForApproval, limit: AskForApproval): AskForApproval {
  const approvable = approvableKinds(limit);
  const isWithin = approvableKinds(wanted).every((kind) => approvable.includes(kind));
  return isWithin && (limit !== 'untrusted' || wanted === 'untrusted') ? wanted : limit;
}

function approvableKinds(policy: AskForApproval): string[] {
  if (typeof policy !== 'string') return KINDS.filter((kind) => policy.granular[kind] === true);
  return policy === 'never' ? [] : [...KINDS];
}
