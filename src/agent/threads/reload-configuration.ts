import { EventLoopYield } from '../../base/event-loop-yield.ts';
import { ConfigError } from '../../config/toml/config-error.ts';
import { RpcError } from '../../protocol/rpc-error.ts';
import { spawnSource } from '../../store/spawn-source.ts';
import type { ThreadSettings } from '../../store/thread-record.ts';
import type { Services } from '../services.ts';
import { embedded } from '../settings/resolve-settings.ts';
import type { LoadedThread } from './loaded-thread.ts';
import { resolveThread } from './new-thread.ts';

/** The work of reading a configuration, in the units of `EventLoopYield`. */
const RELOAD_UNITS = 1_000;

/**
 * `mcp`: only the MCP servers. `provider`: threads in which the embedded model answers because
 * there was no other provider.
 */
export type Reload = 'all' | 'mcp' | 'provider';

interface ReloadOptions {
  reload: Reload;
  /** Called with each thread that has the new configuration, or keeps its own. */
  onDone?(thread: LoadedThread): void;
}

/**
 * Reads the configuration of loaded threads again, and then starts MCP servers that have failed.
 * Turns that begin after the call have the new configuration. The settings of a thread stay as they
 * are, except for a provider that nobody has chosen. An agent, or a thread in which a turn runs,
 * has only the new MCP servers. Nothing waits for servers, and a thread that cannot have the new
 * configuration keeps its own. Resolves when all threads have been read, and never rejects.
 */
export async function reloadConfiguration(
  threads: readonly LoadedThread[],
  services: Services,
  { reload, onDone }: ReloadOptions,
): Promise<void> {
  const breaks = new EventLoopYield();
  const isMeant = ({ record }: LoadedThread) =>
    reload !== 'provider' || record.settings.embeddedByDefault === true;
  await Promise.all(
    threads.filter(isMeant).map(async (thread) => {
      await reloadThread(thread, services, { reload, breaks });
      services.programs.changed();
      onDone?.(thread);
    }),
  );
  // Only now: the new configuration may be without them.
  if (reload !== 'provider') services.mcp.startFailed();
}

/** Never rejects. */
async function reloadThread(
  thread: LoadedThread,
  services: Services,
  { reload, breaks }: { reload: Reload; breaks: EventLoopYield },
): Promise<void> {
  const { settingsChanges, record } = thread;
  try {
    const announcements =
      reload === 'mcp' || spawnSource(record.source) !== null
        ? null
        : await settingsChanges.reconfigure(async (last) => {
            await breaks.worked(RELOAD_UNITS);
            const request = {
              overrides: {},
              config: thread.configuration.requested,
              knowsModes: true,
            };
            const { settings, configuration } = await resolveThread(services, request, last);
            return {
              settings: last.embeddedByDefault ? withModelOf(last, settings) : last,
              configuration,
            };
          });
    for (const { method, params } of announcements ?? [])
      services.clients.publish({ threadId: thread.id }, method, params);
    if (announcements === null && reload !== 'provider') {
      await settingsChanges.reconfigureMcp(async ({ readAgain }) => {
        await breaks.worked(RELOAD_UNITS);
        return readAgain();
      });
    }
    thread.opened('reconfigured');
  } catch (error) {
    keepsConfiguration(thread, services, error);
  }
}

/** The settings, with the provider and the model of others. */
function withModelOf(
  { embeddedByDefault: _, embeddedInPlaceOf: _asked, ...settings }: ThreadSettings,
  others: ThreadSettings,
): ThreadSettings {
  const { model, modelProvider } = others;
  const { collaborationMode } = settings;
  return {
    ...settings,
    model,
    modelProvider,
    ...embedded(others),
    collaborationMode: { ...collaborationMode, settings: { ...collaborationMode.settings, model } },
  };
}

function keepsConfiguration(
  { id }: LoadedThread,
  { clients, runtime: { log } }: Services,
  error: unknown,
): void {
  const isExpected = error instanceof ConfigError || error instanceof RpcError;
  if (isExpected)
    log.warn(
      { threadId: id, problem: error.message },
      'a thread keeps its configuration, because the new one is invalid',
    );
  else
    log.error(
      { err: error, threadId: id },
      'the configuration of a thread could not be read again',
    );
  const reason = isExpected
    ? error.message
    : 'the server has failed to read it, and its log says why';
  const message = `This thread keeps its configuration, because it cannot have the new one: ${reason}`;
  clients.publish({ threadId: id }, 'warning', { threadId: id, message });
}
