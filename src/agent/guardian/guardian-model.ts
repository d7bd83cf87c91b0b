import type { Config } from '../../config/config.ts';
import {
  chooseProvider,
  defaultModel,
  NoModelError,
} from '../../config/providers/choose-provider.ts';
import { type ContextWindow, contextWindow } from '../../config/providers/context-window.ts';
import type { ProviderConfig } from '../../config/providers/provider-config.ts';
import type { ThreadSettings } from '../../store/thread-record.ts';

/** The model that guards a thread, and its settings. */
export interface GuardianModel {
  /** Null: that of the thread. */
  provider: ProviderConfig | null;
  name: string;
  effort: string | null;
  serviceTier: string | null;
  window: ContextWindow;
}

interface GuardianModelSources {
  config: Config;
  settings: ThreadSettings;
  /** The context window of a model of the thread's provider. */
  ownWindow(model: string): ContextWindow;
}

/**
 * The configured model, by default the thread's own. Throws a ConfigError if a setting is not
 * valid.
 */
export function guardianModel({
  config,
  settings,
  ownWindow,
}: GuardianModelSources): GuardianModel {
  const providerId = config.get('auto_review.model_provider') ?? settings.modelProvider;
  const configured = config.get('auto_review.model');
  const effort = config.get('auto_review.model_reasoning_effort');
  if (providerId === settings.modelProvider) {
    const name = configured ?? settings.model;
    const ownEffort = name === settings.model ? settings.effort : null;
    return {
      provider: null,
      name,
      effort: effort ?? ownEffort,
      serviceTier: settings.serviceTier,
      window: ownWindow(name),
    };
  }
  const { provider } = chooseProvider(config, providerId);
  const name = configured ?? defaultModel(provider);
  if (name === null) throw new NoModelError(provider, 'set auto_review.model in config.toml');
  const window = contextWindow(name, {
    configured: null,
    isLocal: provider.localServer !== null,
    listed: new Map(),
  });
  return { provider, name, effort, serviceTier: null, window };
}
