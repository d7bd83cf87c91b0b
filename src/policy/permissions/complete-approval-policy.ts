import type { AskForApproval } from '../../protocol/generated/types.ts';

/** A policy with every kind of approval decided; what is left out of a granular one is not asked for. */
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
