import type { Config } from '../config.ts';
import { ConfigError } from '../toml/config-error.ts';
import { EMBEDDED, isEmbeddedName } from './embedded-names.ts';
import type { ProviderConfig } from './provider-config.ts';
import { offlineProvider, readProvider } from './read-provider.ts';

const OPENAI_MODEL_DEFAULT = 'gpt-5.5';
/** The model of a provider with a script, and of a server that was given a model. */
const SCRIPTED_MODEL = 'scripted';

export interface ChosenProvider {
  provider: ProviderConfig;
  /**
   * Whether the provider is the embedded model because neither a provider nor a key is configured.
   */
  embeddedDefault: boolean;
}

/**
 * Returns the provider of a thread: the requested one, else `model_provider`, else openai if its
 * key is in the environment or stored in the home, else the embedded one. Throws a ConfigError if
 * the provider is unknown or its definition is invalid. If the server was given a model, any name
 * is accepted and no definition is read.
 */
export function chooseProvider(config: Config, requested: string | null): ChosenProvider {
  const chosen = requested ?? config.get('model_provider');
  if (config.modelGiven) {
    const api = config.modelGiven === 'embedded' ? 'embedded' : 'scripted';
    return { provider: offlineProvider(chosen ?? api, api), embeddedDefault: false };
  }
  if (chosen !== null) return { provider: readProvider(config, chosen), embeddedDefault: false };
  if (config.env.OPENAI_API_KEY || config.login.apiKey !== null)
    return { provider: readProvider(config, 'openai'), embeddedDefault: false };
  return { provider: readProvider(config, EMBEDDED), embeddedDefault: true };
}

/**
 * Returns the model of a thread: the requested one, else `model`, else the provider's default. The
 * embedded model has only its own name, so that no thread names a model that does not answer.
 * Throws a NoModelError.
 */
export function chooseModel(
  config: Config,
  provider: ProviderConfig,
  requested: string | null,
): string {
  const model = isEmbedded(config, provider)
    ? EMBEDDED
    : (requested ?? config.get('model') ?? defaultModel(provider));
  if (model === null) throw new NoModelError(provider);
  return model;
}

/**
 * Whether the embedded model answers for a provider, without a script. A provider that the user has
 * defined may give it other names, and so may a server that was given a model.
 */
export function isEmbedded({ modelGiven }: Config, { id, wireApi }: ProviderConfig): boolean {
  return !modelGiven && isEmbeddedName(id) && wireApi === 'embedded';
}

/** The model that answers if this one is requested in a thread of a provider. */
export function answeringModel(config: Config, providerId: string, requested: string): string {
  return isEmbeddedName(providerId) && isEmbedded(config, readProvider(config, providerId))
    ? EMBEDDED
    : requested;
}

/** The model of a provider for which none is configured. Null: it has no default. */
export function defaultModel(provider: ProviderConfig): string | null {
  if (provider.wireApi === 'embedded') return EMBEDDED;
  if (provider.wireApi === 'scripted') return SCRIPTED_MODEL;
  return provider.id === 'openai' ? OPENAI_MODEL_DEFAULT : null;
}

/** No model is configured for a provider that has no default. */
export class NoModelError extends ConfigError {
  readonly provider: ProviderConfig;

  /** `hint` tells the user how to choose a model. */
  constructor(provider: ProviderConfig, hint = 'set model in config.toml') {
    super(`no model is set for the provider ${provider.id}: ${hint}`);
    this.provider = provider;
  }
}
