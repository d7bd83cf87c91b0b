import type { ProviderConfig } from '../config/provider.ts';
import { chatApi } from './chat.ts';
import type { Model } from './model.ts';
import { createProviderModel, type ProviderModelDeps } from './provider-model.ts';
import { responsesApi } from './responses.ts';
import { createScriptedModel } from './scripted.ts';

/** The model behind a provider. Keep it: it holds the provider's connections. */
export function createModel(provider: ProviderConfig, deps: ProviderModelDeps): Model {
  switch (provider.wireApi) {
    case 'responses':
      return createProviderModel(responsesApi, provider, deps);
    case 'chat':
      return createProviderModel(chatApi, provider, deps);
    case 'scripted':
      return createScriptedModel(deps);
    default:
      return provider.wireApi satisfies never;
  }
}
