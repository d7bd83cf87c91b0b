import type { ProviderConfig } from '../../config/providers/provider-config.ts';
import type { InstalledModels } from '../http/installed-models.ts';
import type { Model } from '../model.ts';

/** The providers of models. */
export interface Providers {
  /** True: one model serves every provider, so none needs to be defined. */
  readonly modelGiven: boolean | 'embedded';
  modelFor(provider: ProviderConfig): Promise<Model>;
  /** Asks a provider which models it has. Never rejects, and takes a second at most. */
  installedModels(provider: ProviderConfig): Promise<InstalledModels>;
  /**
   * Asks a provider for the context windows of its models, by their ids, until it has listed them
   * once. Never rejects, and takes five seconds at most.
   */
  listedWindows(provider: ProviderConfig): Promise<ReadonlyMap<string, number>>;
}
