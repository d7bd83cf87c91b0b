import { EventLoopYield } from '../base/event-loop-yield.ts';
import { ConfigError } from '../config/config-error.ts';
import { RpcError } from '../protocol/rpc-error.ts';
import { spawnSource } from '../store/spawn-source.ts';
import type { AgentDeps } from './agent-deps.ts';
import type { LoadedThread } from './loaded-thread.ts';
import { configureThread } from './new-thread.ts';

/** The work of reading a configuration, in the units of `EventLoopYield`. */
const RELOAD_UNITS = 1_000;

/**
 * Reads the configuration of loaded threads in which no turn runs again. Their settings stay as they are, and so does the configuration
 * of a thread that cannot have the new one. Agents get it when they are loaded again.
 */
export async function reloadConfiguration(threads: Iterable<LoadedThread>, deps: AgentDeps): Promise<void> {
  const breaks = new EventLoopYield();
  for (const thread of [...threads].filter(({ record }) => spawnSource(record.source) === null)) {
    await breaks.worked(RELOAD_UNITS);
    const request = { overrides: {}, config: thread.configuration.requested, knowsModes: true };
    try {
      await thread.settingsChanges.reconfigure(async (settings) => {
        const { configuration } = await configureThread(deps, request, settings);
        return { settings, configuration };
      });
    } catch (error) {
      if (!(error instanceof ConfigError || error instanceof RpcError)) throw error;
      deps.log.warn({ threadId: thread.id, problem: error.message }, 'a thread keeps its configuration, because the new one is invalid');
    }
  }
}
