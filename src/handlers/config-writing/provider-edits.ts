import type { Config } from '../../config/config.ts';
import { EMBEDDED_NAMES } from '../../config/providers/embedded-names.ts';
import { BUILT_IN_PROVIDERS, knownProviders } from '../../config/providers/read-provider.ts';
import { quotedKey } from '../../config/toml/split-key.ts';
import { configWriteInvalid, configWriteRefused } from '../../protocol/config-write-refused.ts';
import type { ConfigEdit, ModelProviderConfigWriteParams } from '../../protocol/generated/types.ts';

type CustomGateway = Extract<ModelProviderConfigWriteParams['settings'], { type: 'customGateway' }>;

const ID_CHARS_MAX = 64;

/**
 * Returns the id of the provider that the settings create or change, and the edits that do it.
 * Throws an RpcError if they cannot.
 */
export function providerEdits(
  settings: CustomGateway,
  config: Config,
): { id: string; edits: ConfigEdit[] } {
  const { providerId = null, name, baseUrl, envKey } = settings;
  if (name !== undefined && name !== null && name.trim() === '')
    throw configWriteInvalid('settings.name must not be empty');
  const id = providerId === null ? newProvider(settings, config) : requireOwn(providerId, config);
  if (baseUrl === null && providerId !== null)
    throw configWriteInvalid('settings.baseUrl cannot be removed: a provider needs a URL');
  const isNew = providerId === null;
  const values = {
    name,
    base_url: baseUrl,
    env_key: envKey,
    wire_api: isNew ? 'responses' : undefined,
  };
  const edits = Object.entries(values).flatMap(([key, value]) =>
    value === undefined || (key === 'name' && value === null)
      ? []
      : [
          {
            keyPath: `model_providers.${quoted(id)}.${key}`,
            value,
            mergeStrategy: 'replace' as const,
          },
        ],
  );
  return { id, edits };
}

function newProvider({ name, baseUrl }: CustomGateway, config: Config): string {
  if (!name) throw configWriteInvalid('settings.name is missing: a new provider needs a name');
  if (!baseUrl)
    throw configWriteInvalid(
      'settings.baseUrl is missing: a new provider needs the http or https URL of its API',
    );
  const stem =
    name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .slice(0, ID_CHARS_MAX)
      .replace(/^-+|-+$/g, '') || 'provider';
  const taken = new Set([...knownProviders(config), ...EMBEDDED_NAMES]);
  for (let number = 1; ; number++) {
    const id = number === 1 ? stem : `${stem}-${number}`;
    if (!taken.has(id)) return id;
  }
}

function requireOwn(id: string, config: Config): string {
  if (BUILT_IN_PROVIDERS.includes(id))
    throw configWriteInvalid(`${id} is built in: create a provider with an id of its own`);
  if (!knownProviders(config).includes(id)) {
    throw configWriteRefused(
      'configPathNotFound',
      `unknown model provider: ${id}. To create one, leave providerId out`,
    );
  }
  return id;
}

/** The id as a part of a dotted key. */
function quoted(id: string): string {
  const key = quotedKey(id);
  if (key === null)
    throw configWriteInvalid(`${id} cannot be changed here: change it in config.toml`);
  return key;
}
