import type { ProviderConfig } from '../config/providers/provider-config.ts';
import type { ProviderModelDeps } from './http/create-provider-model.ts';
import type { InstalledModels } from './http/installed-models.ts';
import type { Model } from './model.ts';
import { ModelPool } from './model-pool.ts';

/** The models of the providers, created when they are needed, or the one that replaces them. */
export function providerModels(given: Model | null, deps: ProviderModelDeps) {
  const models = new ModelPool(given, async (provider) => {
    const { createModel } = await import('./create-model.ts');
    return createModel(provider, deps);
  });
  const installedModels = async (provider: ProviderConfig): Promise<InstalledModels> => {
    const listing = await import('./http/installed-models.ts');
    return listing.installedModels(provider, deps);
  };
  const windows = new Map<string, Promise<ReadonlyMap<string, number>>>();
  const listedWindows = (provider: ProviderConfig) => {
    const key = JSON.stringify([provider.id, provider.baseUrl]);
    const ask = async () => {
      const { listedWindows: list } = await import('./http/installed-models.ts');
      const listed = await list(provider, deps);
      if (listed === null) windows.delete(key);
      return listed ?? new Map<string, number>();
    };
    const listed = windows.get(key) ?? ask();
    windows.set(key, listed);
    return listed;
  };
  return { models, listings: { installedModels, listedWindows } };
}
