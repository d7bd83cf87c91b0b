import type { Config } from '../../config/config.ts';
import { NO_REQUIREMENTS } from '../../config/requirements/requirements.ts';
import { type MethodTable, unqueued } from '../requested/method.ts';

export function configRequirementsMethods({ config }: { config: () => Promise<Config> }) {
  return {
    'configRequirements/read': {
      order: unqueued,
      async handle(_params, { caller }) {
        const { requirements } = await config();
        if (requirements === NO_REQUIREMENTS)
          return { requirements: null, supportsIndependentSpeedModes: null };
        const { approvalPolicies, reviewers, sandboxModes, webSearchModes, features } =
          requirements;
        return {
          supportsIndependentSpeedModes: null,
          requirements: {
            allowedApprovalPolicies: listOrNull(approvalPolicies),
            ...(caller.experimentalApi ? { allowedApprovalsReviewers: listOrNull(reviewers) } : {}),
            allowedSandboxModes: listOrNull(sandboxModes),
            allowedWebSearchModes: listOrNull(webSearchModes),
            featureRequirements: features === null ? null : { ...features },
          },
        };
      },
    },
  } satisfies Partial<MethodTable>;
}

function listOrNull<T>(list: readonly T[] | null): T[] | null {
  return list === null ? null : [...list];
}
