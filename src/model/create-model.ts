import type { ProviderConfig } from '../config/provider.ts';
import type { Model } from './model.ts';
import { createResponsesModel, type ResponsesModelDeps } from './responses.ts';
import { createScriptedModel } from './scripted.ts';

/** The model behind a provider. Keep it: it holds the provider's connections. */
export function createModel(provider: ProviderConfig, deps: ResponsesModelDeps): Model {
  switch (provider.wireApi) {
    case 'responses':
      return createResponsesModel(provider, deps);
    case 'scripted':
      return createScriptedModel(deps);
    default:
      return provider.wireApi satisfies never;
  }
}
