import type { AskForApproval } from '../../protocol/generated/types.ts';

/** Fills in the kinds that a granular policy leaves out: they are false. */
export function completeApprovalPolicy(policy: AskForApproval): AskForApproval {
  if (typeof policy === 'string') return policy;
  const { granular } = policy;
  return {
    granular: {
      ...granular,
      request_permissions: granular.request_permissions ?? false,
      skill_approval: granular.skill_approval ?? false,
    },
  };
}
