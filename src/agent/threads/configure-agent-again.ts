import type { JsonObject } from '../../base/json-value.ts';
import { knownRoles } from '../../config/agents/known-roles.ts';
import { mergeTables } from '../../config/toml/config-table.ts';
import { spawnSource } from '../../store/spawn-source.ts';
import type { ThreadRecord, ThreadSettings } from '../../store/thread-record.ts';
import type { Services } from '../services.ts';
import { keptSettings } from '../settings/kept-settings.ts';
import { threadCwd } from '../settings/resolve-settings.ts';
import type { ThreadConfiguration } from '../settings/thread-configuration.ts';
import { configureThread, type ThreadRequest } from './new-thread.ts';

/**
 * The keys of a role's configuration that went into the settings of the agent when it was started.
 * They are stored with it.
 */
const KEPT = new Set([
  'approval_policy',
  'approvals_reviewer',
  'default_permissions',
  'developer_instructions',
  'instructions',
  'model',
  'model_provider',
  'model_reasoning_effort',
  'model_reasoning_summary',
  'personality',
  'sandbox_mode',
  'sandbox_workspace_write',
  'service_tier',
]);

/**
 * The settings and the configuration of an agent that is loaded again: with the configuration of
 * its role. Unlike other threads, an agent keeps its sandbox and its approvals, because the
 * configuration may allow more than the thread that started it.
 */
export async function configureAgentAgain(
  services: Services,
  record: ThreadRecord,
  request: ThreadRequest,
): Promise<{ settings: ThreadSettings; configuration: ThreadConfiguration }> {
  const { sandboxPolicy, approvalPolicy, limits = null, hidden = null } = record.settings;
  const cwd = threadCwd(request.overrides.cwd ?? record.settings.cwd, services.machine.cwd);
  const { agentRoles } = await services.configuration.load(
    cwd,
    mergeTables(request.inherited ?? {}, request.config ?? {}),
  );
  const role = knownRoles(agentRoles).find(
    ({ name }) => name === spawnSource(record.source)?.agent_role,
  );
  const ofRole: JsonObject = Object.fromEntries(
    Object.entries(role?.config ?? {}).filter(([key]) => !KEPT.has(key)),
  );
  const isInherited = request.inherited != null || Object.keys(ofRole).length > 0;
  const asked = {
    ...request,
    inherited: isInherited ? mergeTables(request.inherited ?? {}, ofRole) : null,
  };
  return configureThread(services, asked, {
    ...keptSettings(record.settings, request),
    sandboxPolicy,
    approvalPolicy,
    limits,
    hidden,
  });
}
