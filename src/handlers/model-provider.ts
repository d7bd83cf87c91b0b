import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import { chooseProvider, knownProviders, providerConfig } from '../config/providers/choose-provider.ts';
import type { ProviderConfig } from '../config/providers/provider-config.ts';
import { shownUrl } from '../model/http/endpoint.ts';
import type { ModelProviderSummary, ProviderSettings } from '../protocol/generated/types.ts';
import type { MethodTable } from './method.ts';

export function modelProviderMethods({ config }: { config: () => Promise<Config> }) {
  return {
    'modelProvider/list': {
      queue: null,
      async handle() {
        const settings = await config();
        const defaultProviderId = settings.get('model_provider') ?? chooseProvider(settings, null).provider.id;
        return { data: knownProviders(settings).flatMap((id) => summary(settings, id)), defaultProviderId, canChangeDefault: false };
      },
    },
  } satisfies Partial<MethodTable>;
}

/** None for a provider that is configured wrongly: the others can be chosen all the same. */
function summary(config: Config, id: string): ModelProviderSummary[] {
  try {
    const provider = providerConfig(config, id);
    return [{ id, name: provider.name, canEdit: false, baseUrl: withoutSecrets(provider.baseUrl), settings: settingsOf(provider) }];
  } catch (error) {
    if (error instanceof ConfigError) return [];
    throw error;
  }
}

/** An address may carry a password or a key. */
function withoutSecrets(baseUrl: string | null): string | null {
  const url = baseUrl === null ? null : new URL(baseUrl);
  return url !== null && (url.username || url.password || url.search) ? shownUrl(url) : baseUrl;
}

function settingsOf({ id, envKey, httpHeaders }: ProviderConfig): ProviderSettings {
  if (id === 'openai') return { type: 'openai' };
  if (envKey !== null) return { type: 'customGateway', auth: { mode: 'environmentVariable', envKey } };
  const mayHoldKey = Object.keys(httpHeaders).length > 0;
  return { type: 'customGateway', auth: mayHoldKey ? { mode: 'externallyConfigured', envKey: null } : { mode: 'none' } };
}
