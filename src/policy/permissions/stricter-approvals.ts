import type { AskForApproval } from '../../protocol/generated/types.ts';
import { asksAboutSkills } from './may-ask.ts';

const KINDS = ['sandbox_approval', 'rules', 'mcp_elicitations', 'request_permissions'] as const;

/**
 * Returns the wanted policy if it allows no more than the limit: no kind of request can be approved that the limit refuses, and if the
 * limit asks before a command, or a skill's file, runs in the sandbox, so does the wanted one. Otherwise returns the limit.
 */
export function stricterApprovals(wanted: AskForApproval, limit: AskForApproval): AskForApproval {
  const approvable = approvableKinds(limit);
  const isWithin = approvableKinds(wanted).every((kind) => approvable.includes(kind));
  const asksAsMuch = (limit !== 'untrusted' || wanted === 'untrusted') && (!asksAboutSkills(limit) || asksAboutSkills(wanted));
  return isWithin && asksAsMuch ? wanted : limit;
}

function approvableKinds(policy: AskForApproval): string[] {
  if (typeof policy !== 'string') return KINDS.filter((kind) => policy.granular[kind] === true);
  return policy === 'never' ? [] : [...KINDS];
}
