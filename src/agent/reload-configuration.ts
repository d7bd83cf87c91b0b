import { EventLoopYield } from '../base/event-loop-yield.ts';
import { ConfigError } from '../config/config-error.ts';
import { RpcError } from '../protocol/rpc-error.ts';
import { spawnSource } from '../store/spawn-source.ts';
import type { ThreadSettings } from '../store/thread-store.ts';
import type { AgentDeps } from './agent-deps.ts';
import type { LoadedThread } from './loaded-thread.ts';
import { configureThread } from './new-thread.ts';

/** The work of reading a configuration, in the units of `EventLoopYield`. */
const RELOAD_UNITS = 1_000;

/**
 * Reads the configuration of loaded threads in which no turn runs again. Their settings stay as they are, except for a provider that
 * nobody has chosen, and so does the configuration of a thread that cannot have the new one. Agents get it when they are loaded again.
 * `embedded`: only threads in which the embedded model answers because there was no other.
 */
export async function reloadConfiguration(threads: Iterable<LoadedThread>, deps: AgentDeps, { embedded = false } = {}): Promise<void> {
  const breaks = new EventLoopYield();
  const isMeant = ({ record }: LoadedThread) =>
    spawnSource(record.source) === null && (!embedded || record.settings.embeddedByDefault === true);
  for (const thread of [...threads].filter(isMeant)) {
    await breaks.worked(RELOAD_UNITS);
    const request = { overrides: {}, config: thread.configuration.requested, knowsModes: true };
    try {
      const announcements = await thread.settingsChanges.reconfigure(async (last) => {
        const { settings, configuration } = await configureThread(deps, request, last);
        return { settings: last.embeddedByDefault ? withModelOf(last, settings) : last, configuration };
      });
      for (const { method, params } of announcements) deps.clients.publish({ threadId: thread.id }, method, params);
    } catch (error) {
      if (!(error instanceof ConfigError || error instanceof RpcError)) throw error;
      deps.log.warn({ threadId: thread.id, problem: error.message }, 'a thread keeps its configuration, because the new one is invalid');
    }
  }
}

/** The settings, with the provider and the model of others. */
function withModelOf({ embeddedByDefault: _, ...settings }: ThreadSettings, others: ThreadSettings): ThreadSettings {
  const { model, modelProvider, embeddedByDefault } = others;
  const { collaborationMode } = settings;
  return {
    ...settings,
    model,
    modelProvider,
    ...(embeddedByDefault ? { embeddedByDefault } : {}),
    collaborationMode: { ...collaborationMode, settings: { ...collaborationMode.settings, model } },
  };
}
