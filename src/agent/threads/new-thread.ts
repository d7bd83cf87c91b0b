import { join } from 'node:path';
import { EventLoopYield } from '../../base/event-loop-yield.ts';
import type { JsonObject } from '../../base/json-value.ts';
import { mayStartAgents } from '../../config/agents/may-start-agents.ts';
import { runningAgentsMax } from '../../config/agents/running-agents-max.ts';
import type { Config } from '../../config/config.ts';
import { isRequestLayer } from '../../config/layers/request-layer.ts';
import { mcpSettings } from '../../config/mcp/mcp-settings.ts';
import { standInWarning } from '../../config/problems/stand-in-warning.ts';
import { NoModelError } from '../../config/providers/choose-provider.ts';
import type { ProviderConfig } from '../../config/providers/provider-config.ts';
import { reasoningEfforts } from '../../config/providers/reasoning-efforts.ts';
import { searchesTools } from '../../config/providers/searches-tools.ts';
import { readOr } from '../../config/toml/config-error.ts';
import { mergeTables } from '../../config/toml/config-table.ts';
import { webSearch } from '../../config/web-search.ts';
import { readGitInfo } from '../../git/read-git-info.ts';
import type { Providers } from '../../model/providers/providers.ts';
import { PROTOCOL_VERSION } from '../../protocol/protocol-version.ts';
import type { ThreadRecord, ThreadSettings } from '../../store/thread-record.ts';
import { commandSettings } from '../../tools/command/command-settings.ts';
import { shownReasoning } from '../items/shown-reasoning.ts';
import { Instructions } from '../prompt/instructions.ts';
import type { Services } from '../services.ts';
import { contextWindows } from '../settings/context-windows.ts';
import {
  resolveSettings,
  type SettingsSources,
  type ThreadOverrides,
  threadCwd,
} from '../settings/resolve-settings.ts';
import type { AgentSettings, ThreadConfiguration } from '../settings/thread-configuration.ts';
import type { ThreadOrigin } from '../thread-context.ts';

/** The choices of a request that starts, resumes or forks a thread. */
export interface ThreadRequest {
  overrides: ThreadOverrides;
  /** Settings that override config.toml, by dotted keys. */
  config: JsonObject | null;
  /** Settings that `config` overrides: those of the request for another thread. Default: none. */
  inherited?: JsonObject | null;
  /** Whether the client knows collaboration modes. */
  knowsModes: boolean;
}

/** Whether the request sets anything. */
export function changesSettings({ overrides, config }: ThreadRequest): boolean {
  return (
    config !== null ||
    Object.values(overrides).some((value) => value !== null && value !== undefined)
  );
}

export interface NewThread extends ThreadRequest {
  ephemeral: boolean;
  threadSource: string | null;
  daybreakEnabled: boolean | null;
  /** The tools that the client provides, as JSON text. Null: none. */
  clientTools: string | null;
  /** The client's name. */
  originator: string | null;
  /** How hooks see its beginning. Default: `startup`. */
  origin?: ThreadOrigin;
  /** The settings and the configuration of the thread. Absent: they are resolved. */
  resolved?: ResolvedThread;
}

export interface ResolvedThread {
  settings: ThreadSettings;
  configuration: ThreadConfiguration;
}

/**
 * Makes the record and configuration of a new thread. `last`: settings to keep from another thread.
 */
export async function newThread(
  services: Services,
  request: NewThread,
  last: Partial<ThreadSettings>,
): Promise<{ record: ThreadRecord; configuration: ThreadConfiguration }> {
  const { clock, ids } = services.runtime;
  const { settings, configuration } =
    request.resolved ?? (await configureThread(services, request, last));
  const gitInfo = await readGitInfo(settings.cwd);
  const id = ids.next();
  const now = clock.now();
  return {
    configuration,
    record: {
      id,
      sessionId: id,
      createdAtMs: now,
      updatedAtMs: now,
      recencyAtMs: now,
      listed: false,
      archivedAtMs: null,
      ephemeral: request.ephemeral,
      name: null,
      preview: '',
      previewIsCommand: false,
      path: request.ephemeral ? null : rolloutPath(services.machine.home, id, now),
      forkedFromId: null,
      source: 'vscode',
      threadSource: request.threadSource,
      originator: request.originator,
      cliVersion: PROTOCOL_VERSION,
      gitInfo,
      settings,
      tokenUsage: null,
      told: null,
      memoryMode: null,
      daybreakEnabled: request.daybreakEnabled,
      clientTools: request.clientTools,
      goal: null,
      queue: null,
      queueHold: null,
      agentClosedAtMs: null,
      spawnTurnId: null,
    },
  };
}

/**
 * As `resolveThread`. Resolves when the MCP servers that the configuration requires are ready.
 * Rejects if one cannot be started.
 */
export async function configureThread(
  services: Services,
  request: ThreadRequest,
  last: Partial<ThreadSettings>,
): Promise<ResolvedThread> {
  const resolved = await resolveThread(services, request, last);
  await services.mcp.require(resolved.configuration.mcp.settings, resolved.settings.cwd);
  return resolved;
}

/**
 * Resolves the settings of a thread, and its configuration from config.toml as it is now. `last`:
 * settings to keep. Lets other work run between the parts, each of which can be long.
 */
export async function resolveThread(
  services: Services,
  { overrides, config: requested, inherited = null }: ThreadRequest,
  last: Partial<ThreadSettings>,
): Promise<ResolvedThread> {
  const { providers, configuration } = services;
  const cwd = threadCwd(overrides.cwd ?? last.cwd, services.machine.cwd);
  const request = inherited === null ? requested : mergeTables(inherited, requested ?? {});
  const load = () => configuration.load(cwd, request);
  const breaks = new EventLoopYield();
  const config = await load();
  await breaks.yielded();
  const resolved = await resolveOrAdvise(providers, {
    overrides,
    requested: requested ?? {},
    last,
    config,
    cwd,
  });
  const { settings, provider, embeddedDefault, notAllowed } = resolved;
  const instructions = await Instructions.load(
    { config, extraRoots: configuration.extraSkillRoots },
    settings,
  );
  const agents = agentSettings(config, provider);
  const commands = commandSettings(config);
  await breaks.worked(1);
  const mcp = mcpSettings(config);
  await breaks.worked(1);
  const { embeddedInPlaceOf } = settings;
  const wanted = overrides.model ?? embeddedInPlaceOf ?? config.get('model') ?? last.model ?? null;
  return {
    settings,
    configuration: {
      config,
      requested: config.layers.find(isRequestLayer)?.config ?? null,
      model: await providers.modelFor(provider),
      warnings: threadWarnings(config, { provider, embeddedDefault, wanted, notAllowed, agents }),
      instructions,
      commands,
      mcp: { settings: mcp, readAgain: async () => mcpSettings(await load()) },
      goals: config.get('features.goals'),
      agents: 'problem' in agents ? null : agents.settings,
      tools: {
        asksForPermissions: config.get('features.request_permissions_tool'),
        asksInDefaultMode: config.get('features.default_mode_request_user_input'),
        viewImage: viewsImages(config),
        webSearch: ({ sandboxPolicy }) =>
          webSearch(config, provider, { fullAccess: sandboxPolicy.type === 'dangerFullAccess' }),
        searchesTools: (model) => !providers.modelGiven && searchesTools(provider, model),
        approvalTimeoutMs: config.get('approval_timeout_ms'),
        clientToolTimeoutMs: config.get('client_tool_timeout_ms'),
      },
      responses: {
        verbosity: config.get('model_verbosity'),
        shownReasoning: shownReasoning(config),
        // Only reviews need it.
        get reviewModel() {
          return config.get('review_model');
        },
      },
      prompt: {
        ...contextWindows(providers, config, provider),
        compactionLimit: config.get('model_auto_compact_token_limit'),
        limitsBody: config.get('model_auto_compact_token_limit_scope') === 'body_after_prefix',
        compactPrompt: config.get('compact_prompt'),
      },
    },
  };
}

function threadWarnings(
  config: Config,
  {
    notAllowed,
    agents,
    ...model
  }: Parameters<typeof standInWarning>[1] & {
    notAllowed: string[];
    agents: ReturnType<typeof agentSettings>;
  },
): string[] {
  const limited = notAllowed.length === 0 ? null : notAllowed.join(' ');
  const withoutAgents =
    'problem' in agents
      ? `The model cannot start sub-agents in this thread: ${agents.problem}`
      : null;
  const standIn = standInWarning(config, model);
  return [standIn && `${standIn.problem} ${standIn.advice}`, limited, withoutAgents].filter(
    (warning) => warning !== null,
  );
}

function viewsImages(config: Config): boolean {
  return (['tools.view_image', 'features.view_image', 'features.view_image_tool'] as const).every(
    (name) => config.get(name),
  );
}

/** Null: the model cannot start agents. An invalid setting of agents takes only the agents away. */
function agentSettings(
  config: Config,
  provider: ProviderConfig,
): { settings: AgentSettings | null } | { problem: string } {
  return readOr(
    () => ({ settings: mayStartAgents(config) ? readAgentSettings(config, provider) : null }),
    ({ message }) => ({ problem: message }),
  );
}

function readAgentSettings(config: Config, provider: ProviderConfig): AgentSettings {
  return {
    running: runningAgentsMax(config),
    depth: config.get('agents.max_depth'),
    model: config.get('agents.default_subagent_model'),
    effort: config.get('agents.default_subagent_reasoning_effort'),
    efforts: reasoningEfforts(provider),
    roles: config.agentRoles,
  };
}

/**
 * Resolves the settings. If no model is configured, the error names the models that the provider
 * has.
 */
async function resolveOrAdvise(
  { installedModels }: Providers,
  sources: SettingsSources,
): Promise<ReturnType<typeof resolveSettings>> {
  try {
    return resolveSettings(sources);
  } catch (error) {
    if (!(error instanceof NoModelError)) throw error;
    const { missingModelError } = await import('../settings/missing-model-error.ts');
    throw await missingModelError(error, installedModels);
  }
}

/** The path at which an exported rollout of the thread would lie. */
function rolloutPath(home: string, id: string, createdAtMs: number): string {
  const [date = '', time = ''] = new Date(createdAtMs).toISOString().slice(0, 19).split('T');
  return join(
    home,
    'sessions',
    ...date.split('-'),
    `rollout-${date}T${time.replaceAll(':', '-')}-${id}.jsonl`,
  );
}
