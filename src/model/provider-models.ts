import type { ProviderConfig } from '../config/providers/provider-config.ts';
import type { ProviderModelDeps } from './http/create-provider-model.ts';
import type { InstalledModels } from './http/installed-models.ts';
import type { Model } from './model.ts';
import { ModelPool } from './model-pool.ts';

/** For how long a list of models from another machine counts, and for how long the failure to get one does. */
const LISTED_MS = 5 * 60_000;
const UNLISTED_MS = 5_000;

/** The models of the providers, created when they are needed, or the one that replaces them. */
export function providerModels(given: Model | null, deps: ProviderModelDeps) {
  const models = new ModelPool(given, async (provider) => {
    const { createModel } = await import('./create-model.ts');
    return createModel(provider, deps);
  });
  const lists = new Map<string, { untilMs: number; listed: Promise<InstalledModels> }>();
  const ask = async (provider: ProviderConfig): Promise<InstalledModels> => {
    const listing = await import('./http/installed-models.ts');
    return listing.installedModels(provider, deps);
  };
  const installedModels = async (provider: ProviderConfig): Promise<InstalledModels> => {
    // What is on this machine changes at once when the user installs a model.
    if (provider.localServer !== null) return ask(provider);
    const key = JSON.stringify(provider);
    const known = lists.get(key);
    if (known !== undefined && deps.clock.monotonic() < known.untilMs) return known.listed;
    const entry = { untilMs: deps.clock.monotonic() + LISTED_MS, listed: ask(provider) };
    lists.set(key, entry);
    // Soon asked again: the key or the network may be back.
    if ('problem' in (await entry.listed)) entry.untilMs = deps.clock.monotonic() + UNLISTED_MS;
    return entry.listed;
  };
  const windows = new Map<string, Promise<ReadonlyMap<string, number>>>();
  const listedWindows = (provider: ProviderConfig) => {
    const key = JSON.stringify([provider.id, provider.baseUrl]);
    const askWindows = async () => {
      const { listedWindows: list } = await import('./http/installed-models.ts');
      const listed = await list(provider, deps);
      if (listed === null) windows.delete(key);
      return listed ?? new Map<string, number>();
    };
    const listed = windows.get(key) ?? askWindows();
    windows.set(key, listed);
    return listed;
  };
  return { models, listings: { installedModels, listedWindows } };
}
