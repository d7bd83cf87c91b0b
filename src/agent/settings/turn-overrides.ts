import { resolve } from 'node:path';
import type { Config } from '../../config/config.ts';
import { answeringModel } from '../../config/providers/choose-provider.ts';
import { completeApprovalPolicy } from '../../policy/approvals/complete-approval-policy.ts';
import { checkRequired } from '../../policy/permissions/required/check-required.ts';
import type { TurnStartParams } from '../../protocol/generated/types.ts';
import type { ThreadSettings } from '../../store/thread-record.ts';
import { askedTier, collaboration, inPlaceOf, withMode, withProject } from './resolve-settings.ts';
import { turnSandbox } from './thread-sandbox.ts';

/** The names of the settings that a client can change. */
export const TURN_OVERRIDES = [
  'approvalPolicy',
  'approvalsReviewer',
  'collaborationMode',
  'cwd',
  'effort',
  'environments',
  'model',
  'multiAgentMode',
  'permissions',
  'personality',
  'runtimeWorkspaceRoots',
  'sandboxPolicy',
  'serviceTier',
  'summary',
] as const;

/**
 * The settings that a client can change at a turn's start or between turns. Null and absent are the
 * same, except for `serviceTier`.
 */
export type TurnOverrides = Pick<TurnStartParams, (typeof TURN_OVERRIDES)[number]>;

/**
 * The settings with a client's changes. The model and effort of a collaboration mode win. A
 * relative `cwd` is resolved against the server's working directory.
 */
export function withTurnOverrides(
  settings: ThreadSettings,
  params: TurnOverrides,
  { serverCwd, config }: { serverCwd: string; config: Config },
): ThreadSettings {
  const { approvalPolicy } = params;
  const sandbox = turnSandbox(settings, params, config);
  const completePolicy = approvalPolicy ? completeApprovalPolicy(approvalPolicy) : null;
  checkRequired(config, { ...params, ...sandbox, approvalPolicy: completePolicy });
  const mode = params.collaborationMode ?? null;
  const asked = mode?.settings.model ?? params.model ?? settings.model;
  const model = answeringModel(config, settings.modelProvider, asked);
  // A mode with the effort null removes the effort; a mode without an effort leaves it.
  const effort =
    mode?.settings.reasoning_effort === null
      ? null
      : (mode?.settings.reasoning_effort ?? params.effort ?? settings.effort);
  const instructions = (mode ?? settings.collaborationMode).settings.developer_instructions ?? null;
  const { withoutProject: _, ...kept } = settings;
  return {
    ...kept,
    ...withProject(settings, params),
    model,
    ...inPlaceOf(settings.embeddedByDefault, asked, model),
    effort,
    cwd: params.cwd ? resolve(serverCwd, params.cwd) : settings.cwd,
    approvalPolicy: completePolicy ?? settings.approvalPolicy,
    approvalsReviewer: params.approvalsReviewer ?? settings.approvalsReviewer,
    ...sandbox,
    summary: params.summary ?? settings.summary,
    personality: params.personality ?? settings.personality,
    // Null removes the tier, as clients expect.
    serviceTier:
      params.serviceTier === undefined
        ? settings.serviceTier
        : askedTier(config, params.serviceTier),
    collaborationMode: collaboration((mode ?? settings.collaborationMode).mode, {
      model,
      effort: modeEffort(settings, params, { effort, config }),
      instructions,
    }),
    ...withMode(params.multiAgentMode ?? settings.multiAgentMode),
  };
}

/**
 * The effort of the mode: in plan mode, if the client names none, the one that the configuration
 * has for it.
 */
function modeEffort(
  { collaborationMode }: ThreadSettings,
  params: TurnOverrides,
  { effort, config }: { effort: string | null; config: Config },
): string | null {
  const named = params.collaborationMode?.settings.reasoning_effort ?? params.effort ?? null;
  const mode = params.collaborationMode ?? null;
  if (named !== null || (mode ?? collaborationMode).mode !== 'plan') return effort;
  const configured = config.get('plan_mode_reasoning_effort');
  return mode === null
    ? (collaborationMode.settings.reasoning_effort ?? effort)
    : (configured ?? effort);
}
