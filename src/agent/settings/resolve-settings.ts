import { resolve } from 'node:path';
import type { Config } from '../../config/config.ts';
import {
  answeringModel,
  chooseModel,
  chooseProvider,
} from '../../config/providers/choose-provider.ts';
import { isEmbeddedName } from '../../config/providers/embedded-names.ts';
import type { ProviderConfig } from '../../config/providers/provider-config.ts';
import { allowedPolicy, allowedReviewer } from '../../config/requirements/requirements.ts';
import { completeApprovalPolicy } from '../../policy/permissions/complete-approval-policy.ts';
import {
  checkRequired,
  notAllowed,
  sandboxModeOf,
} from '../../policy/permissions/required/check-required.ts';
import type {
  ApprovalsReviewer,
  AskForApproval,
  MultiAgentMode,
  Personality,
  TurnStartParams,
} from '../../protocol/generated/types.ts';
import type { ThreadSettings } from '../../store/thread-record.ts';
import { allowedSandbox } from './allowed-sandbox.ts';
import {
  type SandboxOverrides,
  type SandboxSources,
  type ThreadSandbox,
  threadSandbox,
  turnSandbox,
} from './thread-sandbox.ts';

/**
 * The settings that thread/start, thread/resume and thread/fork can give. Null and absent are the
 * same.
 */
export interface ThreadOverrides extends SandboxOverrides {
  approvalPolicy?: AskForApproval | null | undefined;
  approvalsReviewer?: ApprovalsReviewer | null | undefined;
  baseInstructions?: string | null | undefined;
  cwd?: string | null | undefined;
  developerInstructions?: string | null | undefined;
  environments?: readonly unknown[] | null | undefined;
  model?: string | null | undefined;
  modelProvider?: string | null | undefined;
  multiAgentMode?: MultiAgentMode | null | undefined;
  personality?: Personality | null | undefined;
  serviceTier?: string | null | undefined;
}

/**
 * The settings that a thread keeps when it is resumed from the store or forked. The approval and
 * sandbox policies are not kept, nor are the modes for a client that does not know modes
 * (`knowsModes`): it could not leave them.
 */
export function keptSettings(
  last: ThreadSettings,
  { knowsModes }: { knowsModes: boolean },
): Partial<ThreadSettings> {
  const {
    model,
    modelProvider,
    cwd,
    approvalsReviewer,
    effort,
    summary,
    personality,
    serviceTier,
    collaborationMode,
  } = last;
  const {
    baseInstructions,
    developerInstructions,
    permissionProfile,
    workspaceRoots,
    withoutProject,
    multiAgentMode,
  } = last;
  return {
    model,
    modelProvider,
    ...embedded(last),
    cwd,
    approvalsReviewer,
    effort,
    summary,
    personality,
    serviceTier,
    ...(knowsModes ? { collaborationMode, ...withMode(multiAgentMode) } : {}),
    baseInstructions,
    developerInstructions,
    ...(permissionProfile === undefined ? {} : { permissionProfile }),
    ...(workspaceRoots === undefined ? {} : { workspaceRoots }),
    ...(withoutProject && { withoutProject }),
  };
}

/**
 * The settings of a thread that a copy gets: all of them, except for the mode where `keptSettings`
 * does not keep it either.
 */
export function copiedSettings(
  settings: ThreadSettings,
  { knowsModes }: { knowsModes: boolean },
): ThreadSettings {
  const { model, effort } = settings;
  return knowsModes
    ? settings
    : {
        ...settings,
        collaborationMode: collaboration('default', { model, effort, instructions: null }),
      };
}

export interface SettingsSources extends SandboxSources {
  overrides: ThreadOverrides;
  cwd: string;
}

/**
 * The settings of a thread: each from the request, else from the kept settings, else from the
 * configuration. A provider that nobody has chosen is not kept.
 */
export function resolveSettings(sources: SettingsSources): {
  settings: ThreadSettings;
  provider: ProviderConfig;
  /** Whether the provider is the embedded model because there is no other. */
  embeddedDefault: boolean;
  /**
   * Sentences about the settings of the request or the kept ones that the administrator does not
   * allow, and what the thread has instead.
   */
  notAllowed: string[];
} {
  const { overrides, requested, config, cwd } = sources;
  const last = chosen(sources.last);
  const kept = <Name extends keyof ThreadSettings>(
    name: Name,
    configKey: string,
  ): ThreadSettings[Name] | undefined =>
    Object.hasOwn(requested, configKey) ? undefined : last[name];
  const named = overrides.modelProvider ?? kept('modelProvider', 'model_provider') ?? null;
  const { provider, embeddedDefault } = chooseProvider(config, named);
  const asked = overrides.model ?? kept('model', 'model') ?? null;
  const model = chooseModel(config, provider, asked);
  const effort = keptOr(kept('effort', 'model_reasoning_effort'), () =>
    config.get('model_reasoning_effort'),
  );
  const { mode, settings: modeSettings } = last.collaborationMode ?? {
    mode: 'default' as const,
    settings: null,
  };
  const wanted = {
    approvalPolicy: completeApprovalPolicy(
      overrides.approvalPolicy ??
        kept('approvalPolicy', 'approval_policy') ??
        config.get('approval_policy'),
    ),
    approvalsReviewer:
      overrides.approvalsReviewer ??
      kept('approvalsReviewer', 'approvals_reviewer') ??
      config.get('approvals_reviewer'),
    ...threadSandbox(sources),
  };
  const required = requiredSettings(config, wanted);
  return {
    provider,
    embeddedDefault,
    notAllowed: replacedSettings(config, wanted, required),
    settings: {
      model,
      modelProvider: provider.id,
      ...(embeddedDefault
        ? { embeddedByDefault: true as const, ...inPlaceOf(true, asked, model) }
        : {}),
      cwd,
      ...withProject(last, overrides),
      ...required,
      effort,
      summary: kept('summary', 'model_reasoning_summary') ?? config.get('model_reasoning_summary'),
      personality:
        overrides.personality ?? kept('personality', 'personality') ?? config.get('personality'),
      serviceTier: tierOf(
        config,
        overrides.serviceTier ?? null,
        kept('serviceTier', 'service_tier'),
      ),
      collaborationMode: collaboration(mode, {
        model,
        effort: mode === 'plan' ? (modeSettings?.reasoning_effort ?? effort) : effort,
        instructions: modeSettings?.developer_instructions ?? null,
      }),
      ...withMode(overrides.multiAgentMode ?? last.multiAgentMode),
      baseInstructions:
        overrides.baseInstructions ??
        kept('baseInstructions', 'instructions') ??
        config.get('instructions'),
      developerInstructions:
        overrides.developerInstructions ??
        kept('developerInstructions', 'developer_instructions') ??
        config.get('developer_instructions'),
    },
  };
}

/**
 * The service tiers that clients can ask for. Providers refuse a request with a tier that they do
 * not know.
 */
const KNOWN_TIERS: ReadonlySet<string> = new Set(['default', 'flex', 'priority', 'fast']);

/**
 * The service tier that counts if a client asks for one: null in place of one that neither the
 * server nor the configuration knows.
 */
export function askedTier(config: Config, tier: string | null): string | null {
  return tier !== null && (KNOWN_TIERS.has(tier) || tier === config.get('service_tier'))
    ? tier
    : null;
}

function tierOf(
  config: Config,
  asked: string | null,
  kept: string | null | undefined,
): string | null {
  return asked === null ? keptOr(kept, () => config.get('service_tier')) : askedTier(config, asked);
}

/**
 * The settings without a provider that nobody has chosen, and with the model that a client asked
 * for in place of that provider's.
 */
function chosen(settings: Partial<ThreadSettings>): Partial<ThreadSettings> {
  if (settings.embeddedByDefault === undefined) return settings;
  const { model: _model, modelProvider: _provider, embeddedInPlaceOf: asked, ...others } = settings;
  return { ...others, ...(asked === undefined ? {} : { model: asked }) };
}

/** The settings that say that nobody has chosen the provider. */
export function embedded({
  embeddedByDefault,
  embeddedInPlaceOf,
}: Partial<ThreadSettings>): Partial<ThreadSettings> {
  if (!embeddedByDefault) return {};
  return { embeddedByDefault, ...(embeddedInPlaceOf === undefined ? {} : { embeddedInPlaceOf }) };
}

/** `asked`: the model that a client asked for; null: none. */
function inPlaceOf(
  isEmbedded: true | undefined,
  asked: string | null,
  model: string,
): Pick<ThreadSettings, 'embeddedInPlaceOf'> {
  return !isEmbedded || asked === null || asked === model || isEmbeddedName(asked)
    ? {}
    : { embeddedInPlaceOf: asked };
}

type Limited = Pick<ThreadSettings, 'approvalPolicy' | 'approvalsReviewer'> & ThreadSandbox;

/** The settings with values that the administrator allows, as strict as those if possible. */
function requiredSettings(
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
function replacedSettings(config: Config, wanted: Limited, has: Limited): string[] {
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

/** The kept value, even if it is null: null was chosen. */
function keptOr<T>(kept: T | undefined, configured: () => T): T {
  return kept === undefined ? configured() : kept;
}

/**
 * The settings that a client can change at a turn's start or between turns. Null and absent are the
 * same, except for `serviceTier`.
 */
export type TurnOverrides = Pick<
  TurnStartParams,
  | 'approvalPolicy'
  | 'approvalsReviewer'
  | 'collaborationMode'
  | 'cwd'
  | 'effort'
  | 'environments'
  | 'model'
  | 'multiAgentMode'
  | 'permissions'
  | 'personality'
  | 'runtimeWorkspaceRoots'
  | 'sandboxPolicy'
  | 'serviceTier'
  | 'summary'
>;

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

/** The effort of the next model request. */
export function effortOf({ effort, collaborationMode }: ThreadSettings): string | null {
  return collaborationMode.mode === 'plan'
    ? (collaborationMode.settings.reasoning_effort ?? effort)
    : effort;
}

/**
 * An empty list of environments takes the project's instructions away, another one brings them
 * back.
 */
function withProject(
  { withoutProject }: Partial<ThreadSettings>,
  { environments }: Pick<ThreadOverrides, 'environments'>,
): Pick<ThreadSettings, 'withoutProject'> {
  return (environments ? environments.length === 0 : withoutProject)
    ? { withoutProject: true }
    : {};
}

function withMode(
  multiAgentMode: MultiAgentMode | undefined,
): Pick<ThreadSettings, 'multiAgentMode'> {
  return multiAgentMode === undefined ? {} : { multiAgentMode };
}

function collaboration(
  mode: 'plan' | 'default',
  {
    model,
    effort,
    instructions,
  }: { model: string; effort: string | null; instructions: string | null },
): ThreadSettings['collaborationMode'] {
  return {
    mode,
    settings: { model, reasoning_effort: effort, developer_instructions: instructions },
  };
}

/** The absolute working directory of a thread. A relative one is resolved against the server's. */
export function threadCwd(requested: string | null | undefined, serverCwd: string): string {
  return requested ? resolve(serverCwd, requested) : serverCwd;
}
