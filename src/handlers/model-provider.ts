import type { Config } from '../config/config.ts';
import { chooseProvider } from '../config/providers/choose-provider.ts';
import { isEmbeddedName } from '../config/providers/embedded-names.ts';
import type { ProviderConfig } from '../config/providers/provider-config.ts';
import {
  BUILT_IN_PROVIDERS,
  knownProviders,
  readProvider,
} from '../config/providers/read-provider.ts';
import { validOrNull } from '../config/valid-or-null.ts';
import { shownUrl } from '../model/http/shown-url.ts';
import { configWriteInvalid } from '../protocol/config-write-refused.ts';
import type { ModelProviderSummary, ProviderSettings } from '../protocol/generated/types.ts';
import type { Configured } from './config-writing/configured.ts';
import { providerEdits } from './config-writing/provider-edits.ts';
import { beforeOthers, type MethodTable, unqueued } from './requested/method.ts';

export function modelProviderMethods({
  config,
  configWriter,
}: Pick<Configured, 'config' | 'configWriter'>) {
  return {
    'modelProvider/list': {
      order: unqueued,
      async handle() {
        const settings = await config();
        const chosen = settings.get('model_provider') ?? chooseProvider(settings, null).provider.id;
        // The list has the embedded model under one of its names.
        const listed = isEmbeddedName(chosen)
          ? await validOrNull(() => readProvider(settings, chosen).id)
          : null;
        const defaultProviderId = listed ?? chosen;
        const summaries = await Promise.all(
          knownProviders(settings).map((id) => validOrNull(() => summary(settings, id))),
        );
        const canChangeDefault = settings.layerOf(['model_provider'])?.name.type !== 'sessionFlags';
        return {
          data: summaries.filter((provider) => provider !== null),
          defaultProviderId,
          canChangeDefault,
        };
      },
    },
    'modelProvider/capabilities/read': {
      order: unqueued,
      async handle() {
        const { provider } = chooseProvider(await config(), null);
        // Chat Completions and the embedded model have functions only.
        const hasResponses = provider.wireApi === 'responses';
        return { namespaceTools: hasResponses, imageGeneration: false, webSearch: hasResponses };
      },
    },
    'modelProvider/config/write': {
      order: beforeOthers,
      async handle({ settings }) {
        if (settings.type !== 'customGateway') {
          throw configWriteInvalid(
            `heddle has no provider ${settings.providerId}: use settings of the type customGateway, with the URL of a server for its models`,
          );
        }
        let id = '';
        const edits = (before: Config) => {
          const made = providerEdits(settings, before);
          ({ id } = made);
          return made.edits;
        };
        const { config: written } = await configWriter.write({ edits });
        return { provider: summary(written, id) };
      },
    },
  } satisfies Partial<MethodTable>;
}

/** Throws a ConfigError for a provider that is configured wrongly. */
function summary(config: Config, id: string): ModelProviderSummary {
  const provider = readProvider(config, id);
  const canEdit =
    !BUILT_IN_PROVIDERS.includes(id) &&
    config.layerOf(['model_providers', id])?.name.type === 'user';
  return {
    id,
    name: provider.name,
    canEdit,
    baseUrl: withoutCredentials(provider.baseUrl),
    settings: settingsOf(provider),
  };
}

/**
 * The URL without its credentials, query and fragment if it has credentials or a query, which may
 * hold a key.
 */
function withoutCredentials(baseUrl: string | null): string | null {
  const url = baseUrl === null ? null : new URL(baseUrl);
  return url !== null && (url.username || url.password || url.search) ? shownUrl(url) : baseUrl;
}

function settingsOf({ id, envKey, usesLogin, httpHeaders }: ProviderConfig): ProviderSettings {
  if (id === 'openai') return { type: 'openai' };
  if (envKey !== null)
    return { type: 'customGateway', auth: { mode: 'environmentVariable', envKey } };
  const mayHoldKey = usesLogin || Object.keys(httpHeaders).length > 0;
  return {
    type: 'customGateway',
    auth: mayHoldKey ? { mode: 'externallyConfigured', envKey: null } : { mode: 'none' },
  };
}
