import type { Config } from '../../config/config.ts';
import { contextWindow } from '../../config/providers/context-window.ts';
import { isOffline, type ProviderConfig } from '../../config/providers/provider-config.ts';
import { shortWindow } from '../../config/providers/short-window.ts';
import type { Providers } from '../../model/providers/providers.ts';
import type { PromptSettings } from './thread-configuration.ts';

/** The context windows of models, as they are configured, known and learned from the provider. */
export function contextWindows(
  { modelGiven, listedWindows }: Pick<Providers, 'modelGiven' | 'listedWindows'>,
  config: Config,
  provider: ProviderConfig,
): Pick<PromptSettings, 'contextWindow' | 'learnContextWindow'> {
  const configured = config.get('model_context_window');
  const isLocal = provider.localServer !== null;
  let listed: ReadonlyMap<string, number> = new Map();
  return {
    contextWindow: (model) => contextWindow(model, { configured, isLocal, listed }),
    learnContextWindow: async (model) => {
      if (modelGiven || isOffline(provider)) return null;
      // A provider that does not answer, or has unloaded the model, does not change what is known.
      const windows = new Map([...listed, ...(await listedWindows(provider))]);
      const short = shortWindow(provider, model, windows.get(model) ?? null);
      // A window that has little more room than instructions and tools take would be compacted
      // before each request.
      if (short !== null) windows.delete(model);
      listed = windows;
      return short === null ? null : `${short.problem} ${short.advice}`;
    },
  };
}
