import type { Config } from '../../config/config.ts';
import { allowedPolicy, allowedReviewer } from '../../config/requirements/requirements.ts';
import { completeApprovalPolicy } from '../../policy/approvals/complete-approval-policy.ts';
import { notAllowed, sandboxModeOf } from '../../policy/permissions/required/check-required.ts';
import type { ThreadSettings } from '../../store/thread-record.ts';
import { allowedSandbox } from './allowed-sandbox.ts';
import type { ThreadSandbox } from './thread-sandbox.ts';

/** The settings that an administrator can limit. */
export type Limited = Pick<ThreadSettings, 'approvalPolicy' | 'approvalsReviewer'> & ThreadSandbox;

/** The settings with values that the administrator allows, as strict as those if possible. */
export function requiredSettings(
  config: Config,
  { approvalPolicy, approvalsReviewer, ...sandbox }: Limited,
): Limited {
  const { requirements } = config;
  const isAllowedSandbox =
    notAllowed(config, { sandboxPolicy: sandbox.sandboxPolicy }).length === 0;
  return {
    approvalPolicy: completeApprovalPolicy(allowedPolicy(approvalPolicy, requirements)),
    approvalsReviewer: allowedReviewer(approvalsReviewer, requirements),
    ...(isAllowedSandbox ? sandbox : allowedSandbox(config, sandbox)),
  };
}

/** Returns a sentence for each setting that the thread has in place of the wanted one. */
export function replacedSettings(config: Config, wanted: Limited, has: Limited): string[] {
  const values = {
    approvalPolicy: has.approvalPolicy,
    approvalsReviewer: has.approvalsReviewer,
    sandboxPolicy: sandboxModeOf(has.sandboxPolicy),
  };
  const replaced = notAllowed(config, wanted).map(
    ({ setting, problem }) =>
      `${capital(problem)}. The thread has ${JSON.stringify(values[setting])} in its place.`,
  );
  const profile = wanted.permissionProfile;
  if (profile === null || has.permissionProfile?.id === profile.id) return replaced;
  return [
    ...replaced,
    `The permission profile ${JSON.stringify(profile.id)} is not in force, because its sandbox is not allowed.`,
  ];
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
