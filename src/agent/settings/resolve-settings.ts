import { resolve } from 'node:path';
import type { Config } from '../../config/config.ts';
import { chooseModel, chooseProvider } from '../../config/providers/choose-provider.ts';
import { isEmbeddedName } from '../../config/providers/embedded-names.ts';
import type { ProviderConfig } from '../../config/providers/provider-config.ts';
import { completeApprovalPolicy } from '../../policy/approvals/complete-approval-policy.ts';
import type {
  ApprovalsReviewer,
  AskForApproval,
  MultiAgentMode,
  Personality,
} from '../../protocol/generated/types.ts';
import type { ThreadSettings } from '../../store/thread-record.ts';
import { type Limited, replacedSettings, requiredSettings } from './required-settings.ts';
import { type SandboxOverrides, type SandboxSources, threadSandbox } from './thread-sandbox.ts';

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

export interface SettingsSources extends SandboxSources {
  overrides: ThreadOverrides;
  cwd: string;
}

/** A kept setting, unless the request sets its key of the configuration. */
type Kept = <Name extends keyof ThreadSettings>(
  name: Name,
  configKey: string,
) => ThreadSettings[Name] | undefined;

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
  const kept: Kept = (name, configKey) =>
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
  const wanted = wantedLimits(sources, kept);
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

/** As the request, the kept settings and the configuration have them, allowed or not. */
function wantedLimits(sources: SettingsSources, kept: Kept): Limited {
  const { overrides, config } = sources;
  return {
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

/**
 * Keeps the model that a client asked for and that the embedded model stands in for. `asked`: null
 * if a client asked for none.
 */
export function inPlaceOf(
  isEmbedded: true | undefined,
  asked: string | null,
  model: string,
): Pick<ThreadSettings, 'embeddedInPlaceOf'> {
  return !isEmbedded || asked === null || asked === model || isEmbeddedName(asked)
    ? {}
    : { embeddedInPlaceOf: asked };
}

/** The kept value, even if it is null: null was chosen. */
function keptOr<T>(kept: T | undefined, configured: () => T): T {
  return kept === undefined ? configured() : kept;
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
export function withProject(
  { withoutProject }: Partial<ThreadSettings>,
  { environments }: Pick<ThreadOverrides, 'environments'>,
): Pick<ThreadSettings, 'withoutProject'> {
  return (environments ? environments.length === 0 : withoutProject)
    ? { withoutProject: true }
    : {};
}

/** The multi-agent mode, if there is one. */
export function withMode(
  multiAgentMode: MultiAgentMode | undefined,
): Pick<ThreadSettings, 'multiAgentMode'> {
  return multiAgentMode === undefined ? {} : { multiAgentMode };
}

/** A collaboration mode with the model, the effort and the instructions that it has. */
export function collaboration(
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
