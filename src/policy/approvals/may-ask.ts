import type { AskForApproval } from '../../protocol/generated/types.ts';

type Granular = Extract<AskForApproval, { granular: unknown }>['granular'];

/** The kinds of approval that a granular approval policy allows or refuses one by one. */
export type ApprovalKind = keyof Granular;

/**
 * Whether the approval policy allows the server to ask for this kind of approval. `never` allows
 * none, the other named policies allow all. A granular policy allows the kinds that it sets to
 * true.
 */
export function mayAsk(policy: AskForApproval, kind: ApprovalKind): boolean {
  return typeof policy === 'string' ? policy !== 'never' : policy.granular[kind] === true;
}

/**
 * Whether the server asks before a command that may run a file of a skill, also in the sandbox.
 * Only a granular policy can demand that. If it does not, such commands are like all others, as in
 * Codex 0.169.0.
 */
export function asksAboutSkills(policy: AskForApproval): boolean {
  return typeof policy !== 'string' && mayAsk(policy, 'skill_approval');
}

/** Why the policy does not allow the server to ask; null: it does. */
export function whyNotAsked(policy: AskForApproval, kind: ApprovalKind): string | null {
  if (mayAsk(policy, kind)) return null;
  return policy === 'never'
    ? 'the approval policy is "never"'
    : `the approval policy does not allow questions about ${KINDS[kind]}`;
}

const KINDS: Readonly<Record<ApprovalKind, string>> = {
  sandbox_approval: 'commands and patches',
  rules: 'rules',
  mcp_elicitations: 'MCP tools',
  request_permissions: 'permissions',
  skill_approval: 'skills',
};
