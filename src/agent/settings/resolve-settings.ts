import { resolve } from 'node:path';
import type { Config } from '../../config/config.ts';
import { chooseModel, chooseProvider } from '../../config/providers/choose-provider.ts';
import type { ProviderConfig } from '../../config/providers/provider-config.ts';
import { completeApprovalPolicy } from '../../policy/permissions/complete-approval-policy.ts';
import type { ApprovalsReviewer, AskForApproval, Personality, TurnStartParams } from '../../protocol/generated/types.ts';
import type { ThreadSettings } from '../../store/thread-store.ts';
import { type SandboxOverrides, type SandboxSources, threadSandbox, turnSandbox } from './thread-sandbox.ts';

/** What thread/start, resume and fork can say about a thread's settings. Null and absent are the same. */
export interface ThreadOverrides extends SandboxOverrides {
  approvalPolicy?: AskForApproval | null | undefined;
  approvalsReviewer?: ApprovalsReviewer | null | undefined;
  baseInstructions?: string | null | undefined;
  cwd?: string | null | undefined;
  developerInstructions?: string | null | undefined;
  model?: string | null | undefined;
  modelProvider?: string | null | undefined;
  personality?: Personality | null | undefined;
  serviceTier?: string | null | undefined;
}

/** What a thread that is taken up again keeps of what it last ran with. What may be done without asking is the configuration's to say. */
export function keptSettings(last: ThreadSettings): Partial<ThreadSettings> {
  const { model, modelProvider, cwd, effort, summary, personality, serviceTier, collaborationMode } = last;
  const { baseInstructions, developerInstructions, permissionProfile, workspaceRoots } = last;
  return {
    model,
    modelProvider,
    cwd,
    effort,
    summary,
    personality,
    serviceTier,
    collaborationMode,
    baseInstructions,
    developerInstructions,
    ...(permissionProfile === undefined ? {} : { permissionProfile }),
    ...(workspaceRoots === undefined ? {} : { workspaceRoots }),
  };
}

export interface SettingsSources extends SandboxSources {
  overrides: ThreadOverrides;
  cwd: string;
}

/** The settings of a thread: what the request says, else what is kept, else what the configuration says. */
export function resolveSettings(sources: SettingsSources): {
  settings: ThreadSettings;
  provider: ProviderConfig;
} {
  const { overrides, requested, last, config, cwd } = sources;
  const kept = <Name extends keyof ThreadSettings>(name: Name, configKey: string): ThreadSettings[Name] | undefined =>
    Object.hasOwn(requested, configKey) ? undefined : last[name];
  const { provider } = chooseProvider(config, overrides.modelProvider ?? kept('modelProvider', 'model_provider') ?? null);
  const model = chooseModel(config, provider, overrides.model ?? kept('model', 'model') ?? null);
  const effort = unlessKept(kept('effort', 'model_reasoning_effort'), config.get('model_reasoning_effort'));
  const { mode, settings: modeSettings } = last.collaborationMode ?? { mode: 'default' as const, settings: null };
  return {
    provider,
    settings: {
      model,
      modelProvider: provider.id,
      cwd,
      approvalPolicy: completeApprovalPolicy(
        overrides.approvalPolicy ?? kept('approvalPolicy', 'approval_policy') ?? config.get('approval_policy'),
      ),
      approvalsReviewer: overrides.approvalsReviewer ?? kept('approvalsReviewer', 'approvals_reviewer') ?? config.get('approvals_reviewer'),
      ...threadSandbox(sources),
      effort,
      summary: kept('summary', 'model_reasoning_summary') ?? config.get('model_reasoning_summary'),
      personality: overrides.personality ?? kept('personality', 'personality') ?? config.get('personality'),
      serviceTier: overrides.serviceTier ?? unlessKept(kept('serviceTier', 'service_tier'), config.get('service_tier')),
      collaborationMode: collaboration(mode, { model, effort, instructions: modeSettings?.developer_instructions ?? null }),
      baseInstructions: overrides.baseInstructions ?? kept('baseInstructions', 'instructions') ?? config.get('instructions'),
      developerInstructions:
        overrides.developerInstructions ?? kept('developerInstructions', 'developer_instructions') ?? config.get('developer_instructions'),
    },
  };
}

/** A kept null is kept: it was said. */
function unlessKept<T>(kept: T | undefined, configured: T): T {
  return kept === undefined ? configured : kept;
}

/** What a client can change of the settings at a turn's start or between turns. Null and absent are the same, but for `serviceTier`. */
export type TurnOverrides = Pick<
  TurnStartParams,
  | 'approvalPolicy'
  | 'approvalsReviewer'
  | 'collaborationMode'
  | 'cwd'
  | 'effort'
  | 'model'
  | 'permissions'
  | 'personality'
  | 'runtimeWorkspaceRoots'
  | 'sandboxPolicy'
  | 'serviceTier'
  | 'summary'
>;

/**
 * The settings with what a client changes of them. A collaboration mode's own model and effort win. A relative
 * folder is taken from the server's own.
 */
export function withTurnOverrides(
  settings: ThreadSettings,
  params: TurnOverrides,
  { serverCwd, config }: { serverCwd: string; config: Config },
): ThreadSettings {
  const { approvalPolicy } = params;
  const mode = params.collaborationMode ?? null;
  const model = mode?.settings.model ?? params.model ?? settings.model;
  // A mode that says null takes the effort away; one that says nothing leaves it.
  const effort = mode?.settings.reasoning_effort === null ? null : (mode?.settings.reasoning_effort ?? params.effort ?? settings.effort);
  const instructions = (mode ?? settings.collaborationMode).settings.developer_instructions ?? null;
  return {
    ...settings,
    model,
    effort,
    cwd: params.cwd ? resolve(serverCwd, params.cwd) : settings.cwd,
    approvalPolicy: approvalPolicy ? completeApprovalPolicy(approvalPolicy) : settings.approvalPolicy,
    approvalsReviewer: params.approvalsReviewer ?? settings.approvalsReviewer,
    ...turnSandbox(settings, params, config),
    summary: params.summary ?? settings.summary,
    personality: params.personality ?? settings.personality,
    // As clients know it, a null here takes the tier away.
    serviceTier: params.serviceTier === undefined ? settings.serviceTier : params.serviceTier,
    collaborationMode: collaboration((mode ?? settings.collaborationMode).mode, { model, effort, instructions }),
  };
}

function collaboration(
  mode: 'plan' | 'default',
  { model, effort, instructions }: { model: string; effort: string | null; instructions: string | null },
): ThreadSettings['collaborationMode'] {
  return { mode, settings: { model, reasoning_effort: effort, developer_instructions: instructions } };
}

/** The folder a thread works in: absolute, a relative one taken from the server's own. */
export function threadCwd(requested: string | null | undefined, serverCwd: string): string {
  return requested ? resolve(serverCwd, requested) : serverCwd;
}
