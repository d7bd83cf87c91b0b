import type { ProviderConfig } from '../../config/providers/provider-config.ts';
import { ConfigError } from '../../config/toml/config-error.ts';
import { chatApi } from '../chat/chat-api.ts';
import { createEmbeddedModel } from '../embedded/create-embedded-model.ts';
import { createProviderModel, type ProviderModelDeps } from '../http/create-provider-model.ts';
import type { Model } from '../model.ts';
import { responsesApi } from '../responses/responses-api.ts';
import { ScriptError } from '../script/script-error.ts';

/**
 * Creates the model of a provider. Keep it: it holds the provider's open connections, or the
 * position in its script. Rejects with a ConfigError if the provider's script cannot be used.
 */
export async function createModel(
  provider: ProviderConfig,
  deps: ProviderModelDeps,
): Promise<Model> {
  switch (provider.wireApi) {
    case 'responses':
      return createProviderModel(responsesApi, provider, deps);
    case 'chat':
      return createProviderModel(chatApi, provider, deps);
    case 'embedded':
      return createEmbeddedModel(deps);
    case 'scripted':
      if (provider.script === null)
        throw new Error('a server that was given a model creates no other');
      return byScript(provider.script, deps);
    default:
      return provider.wireApi satisfies never;
  }
}

async function byScript(path: string, { clock, log }: ProviderModelDeps): Promise<Model> {
  const { loadScriptedModel } = await import('../script/load-scripted-model.ts');
  try {
    return loadScriptedModel(path, { clock, log });
  } catch (error) {
    if (error instanceof ScriptError)
      throw new ConfigError(error.message, undefined, { cause: error });
    throw error;
  }
}
