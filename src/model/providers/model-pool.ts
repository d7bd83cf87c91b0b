import type { ProviderConfig } from '../../config/providers/provider-config.ts';
import type { Model } from '../model.ts';

/**
 * How many models are kept, each with its provider's connections. A thread keeps its own model even
 * if the pool drops it.
 */
const MODELS_MAX = 16;

/** Keeps one model for each provider; or, if a model is given, uses that one for all. */
export class ModelPool {
  readonly #given: Model | null;
  readonly #create: (provider: ProviderConfig) => Promise<Model>;
  readonly #models = new Map<string, Promise<Model>>();
  /** Models with a script are never dropped: they hold the position in it. */
  readonly #scripted = new Map<string, Promise<Model>>();
  readonly #reporting = new Set<Model>();

  /** `wrap` is called with each model that is used. */
  constructor(
    given: Model | null,
    create: (provider: ProviderConfig) => Promise<Model>,
    wrap: (model: Model) => Model = (model) => model,
  ) {
    this.#given = given && wrap(given);
    this.#create = async (provider) => wrap(await create(provider));
  }

  /**
   * Rejects with a ConfigError if the provider's settings are not usable; the next call tries
   * again.
   */
  async get(provider: ProviderConfig): Promise<Model> {
    if (this.#given !== null) return this.#given;
    const models = provider.script === null ? this.#models : this.#scripted;
    const key = JSON.stringify(provider);
    const pending = models.get(key) ?? this.#create(provider);
    models.delete(key);
    models.set(key, pending);
    const [oldest] = this.#models.keys();
    if (this.#models.size > MODELS_MAX && oldest !== undefined) this.#models.delete(oldest);
    try {
      const model = await pending;
      if (model.report !== undefined) this.#reporting.add(model);
      return model;
    } catch (error) {
      if (models.get(key) === pending) models.delete(key);
      throw error;
    }
  }

  /**
   * The reports of models that check how they are used, one string of several lines for each model
   * that has a report.
   */
  reports(): string[] {
    const used = this.#given === null ? [...this.#reporting] : [this.#given];
    return used.map((model) => model.report?.() ?? null).filter((report) => report !== null);
  }
}
