import type { Config } from '../config/config.ts';
import { chooseProvider } from '../config/providers/choose-provider.ts';
import type { ProviderConfig } from '../config/providers/provider-config.ts';
import { knownProviders, readProvider } from '../config/providers/read-provider.ts';
import { validOrNull } from '../config/valid-or-null.ts';
import { shownUrl } from '../model/http/shown-url.ts';
import type { ModelProviderSummary, ProviderSettings } from '../protocol/generated/types.ts';
import type { MethodTable } from './method.ts';

export function modelProviderMethods({ config }: { config: () => Promise<Config> }) {
  return {
    'modelProvider/list': {
      queue: null,
      async handle() {
        const settings = await config();
        const defaultProviderId = settings.get('model_provider') ?? chooseProvider(settings, null).provider.id;
        const summaries = await Promise.all(knownProviders(settings).map((id) => validOrNull(() => summary(settings, id))));
        return { data: summaries.filter((provider) => provider !== null), defaultProviderId, canChangeDefault: false };
      },
    },
  } satisfies Partial<MethodTable>;
}

/** Throws a ConfigError for a provider that is configured wrongly. */
function summary(config: Config, id: string): ModelProviderSummary {
  const provider = readProvider(config, id);
  return { id, name: provider.name, canEdit: false, baseUrl: withoutCredentials(provider.baseUrl), settings: settingsOf(provider) };
}

/** The URL without its credentials, query and fragment if it has credentials or a query, which may hold a key. */
function withoutCredentials(baseUrl: string | null): string | null {
  const url = baseUrl === null ? null : new URL(baseUrl);
  return url !== null && (url.username || url.password || url.search) ? shownUrl(url) : baseUrl;
}

function settingsOf({ id, envKey, httpHeaders }: ProviderConfig): ProviderSettings {
  if (id === 'openai') return { type: 'openai' };
  if (envKey !== null) return { type: 'customGateway', auth: { mode: 'environmentVariable', envKey } };
  const mayHoldKey = Object.keys(httpHeaders).length > 0;
  return { type: 'customGateway', auth: mayHoldKey ? { mode: 'externallyConfigured', envKey: null } : { mode: 'none' } };
}
