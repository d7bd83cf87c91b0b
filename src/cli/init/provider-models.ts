import { sleep, systemClock } from '../../base/clock.ts';
import type { Env } from '../../base/env.ts';
import { SILENT_LOG } from '../../base/log.ts';
import type { Config } from '../../config/config.ts';
import { defaultModel } from '../../config/providers/choose-provider.ts';
import { isOffline } from '../../config/providers/provider-config.ts';
import { readProvider } from '../../config/providers/read-provider.ts';
import { listProviderModels, slowListing } from '../../model/http/installed-models.ts';
import { modelProblem } from '../doctor/model-problem.ts';
import { newConfigText } from './new-config-text.ts';
import type { OfferedProvider } from './offered-providers.ts';

interface ProviderModelsDeps {
  env: Env;
  userAgent: string;
  /** The configuration with this text in place of that of the home's config.toml. */
  configWith: (text: string) => Promise<Config>;
}

/** The models of a provider, as far as they are known. */
export interface FoundModels {
  /** The ids that it lists. Empty: none are known. */
  ids: readonly string[];
  /**
   * Why it did not list them, as sentences without secrets. Null: it did, or it has one model only.
   */
  problem: string | null;
  /** The model without a choice. Null: there is none. */
  byDefault: string | null;
  /**
   * Says that the provider does not list a model, and what to do. Null: it does, or its list is not
   * known.
   */
  unlisted(model: string): string | null;
}

/** Asks providers for their models before they are configured. */
export class ProviderModels {
  readonly #deps: ProviderModelsDeps;

  constructor(deps: ProviderModelsDeps) {
    this.#deps = deps;
  }

  /**
   * Takes `msMax` at most. Rejects with a ConfigError if the configuration of all users does not
   * allow the provider.
   */
  async of(offered: OfferedProvider, msMax: number): Promise<FoundModels> {
    const { env, userAgent, configWith } = this.#deps;
    const config = await configWith(
      newConfigText({ provider: offered, model: null, sandbox: 'read-only' }),
    );
    const provider = readProvider(config, offered.id);
    if (isOffline(provider))
      return { ids: [], problem: null, byDefault: null, unlisted: () => null };
    const deps = {
      env,
      userAgent,
      clock: systemClock,
      log: SILENT_LOG,
      storedLogin: () => config.login,
    };
    const answered = new AbortController();
    const tooLate = sleep(systemClock, msMax, answered.signal).then(() =>
      slowListing(provider, deps, msMax),
    );
    const listing = await Promise.race([listProviderModels(provider, deps), tooLate]);
    answered.abort();
    const ids = 'problem' in listing ? [] : listing.ids;
    const own = defaultModel(provider);
    const isOwnServed = own !== null && (ids.length === 0 || ids.includes(own));
    // The first of the hundreds of models that a gateway has would be no choice.
    const first = offered.keyVariable === null ? (ids[0] ?? null) : null;
    return {
      ids,
      problem: 'problem' in listing ? listing.problem : null,
      byDefault: isOwnServed ? own : first,
      unlisted(model) {
        const [problem] = modelProblem(config, { provider, model, listed: ids });
        return problem === undefined ? null : `${problem.message}. ${problem.fix ?? ''}`.trimEnd();
      },
    };
  }

  /** Whether the key that the provider needs is there. */
  async hasKey({ id, keyVariable }: OfferedProvider): Promise<boolean> {
    if (keyVariable === null) return true;
    const { env, configWith } = this.#deps;
    const inEnv = Object.hasOwn(env, keyVariable) && (env[keyVariable] ?? '').trim() !== '';
    return inEnv || (id === 'openai' && (await configWith('')).login.apiKey !== null);
  }
}
