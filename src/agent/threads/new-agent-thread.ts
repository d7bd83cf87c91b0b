import type { JsonObject } from '../../base/json-value.ts';
import { spawnSource } from '../../store/spawn-source.ts';
import type { ThreadRecord, ThreadSettings } from '../../store/thread-record.ts';
import type { NewAgent } from '../lineage/agent-tree.ts';
import type { Services } from '../services.ts';
import { confinedSettings } from '../settings/confined-settings.ts';
import type { ThreadConfiguration } from '../settings/thread-configuration.ts';
import type { LoadedThread } from './loaded-thread.ts';
import { newThread } from './new-thread.ts';

/**
 * Makes the record and configuration of an agent's thread. The agent is never allowed more than the
 * turn that starts it.
 */
export async function newAgentThread(
  services: Services,
  { record: parent, configuration }: Pick<LoadedThread, 'record' | 'configuration'>,
  agent: NewAgent & { nickname: string },
): Promise<{ record: ThreadRecord; configuration: ThreadConfiguration }> {
  const { settings: own, config, model, effort } = agent;
  // The agent has the provider of its parent, even if nobody has chosen that.
  const { embeddedByDefault: _, ...kept } = own;
  const last: ThreadSettings = {
    ...kept,
    effort,
    collaborationMode: { mode: 'default', settings: { model: own.model } },
  };
  const request = {
    overrides: { model, developerInstructions: instructions(own, config) },
    config: config === null ? null : withoutKey(config, 'model_reasoning_effort'),
    inherited: configuration.requested,
    knowsModes: true,
    ephemeral: parent.ephemeral,
    threadSource: 'subagent',
    daybreakEnabled: null,
    clientTools: null,
    originator: parent.originator,
  };
  const made = await newThread(services, request, last);
  const depth = (spawnSource(parent.source)?.depth ?? 0) + 1;
  const { multiAgentMode, ...settings } = made.record.settings;
  const startsAgents = depth < (made.configuration.agents?.depth ?? 0);
  const source = {
    subAgent: {
      thread_spawn: {
        parent_thread_id: parent.id,
        depth,
        agent_path: null,
        agent_nickname: agent.nickname,
        agent_role: agent.role,
      },
    },
  };
  const record: ThreadRecord = {
    ...made.record,
    sessionId: parent.sessionId,
    source,
    spawnTurnId: agent.turnId,
    settings: {
      ...settings,
      ...(startsAgents && multiAgentMode !== undefined ? { multiAgentMode } : {}),
      ...confinedSettings(
        { settings, configuration: made.configuration },
        { settings: own, configuration },
      ),
    },
    told: agent.forksHistory ? parent.told : null,
  };
  return { record, configuration: made.configuration };
}

/** The instructions of the parent, and those of the role after them. */
function instructions(
  { developerInstructions: own }: ThreadSettings,
  config: JsonObject | null,
): string | null {
  const roles = config?.developer_instructions;
  return typeof roles === 'string' && own !== null ? `${own}\n\n${roles}` : null;
}

function withoutKey(config: JsonObject, key: string): JsonObject {
  return Object.fromEntries(Object.entries(config).filter(([name]) => name !== key));
}
