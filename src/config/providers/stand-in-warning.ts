import type { Config } from '../config.ts';
import { isEmbedded } from './choose-provider.ts';
import type { ProviderConfig } from './provider-config.ts';

/** What to do to get answers of a real model. Sentences. */
export function modelAdvice({ login }: Config): string {
  const choices = 'Set model_provider in config.toml, or OPENAI_API_KEY in the environment.';
  if (login.problem !== null) return `${login.problem}. ${choices}`;
  if (login.hasChatgptLogin) return `auth.json in the home has a ChatGPT login, which heddle does not support. ${choices}`;
  return choices;
}

/**
 * Returns the warning for a thread in which the embedded model answers although the request or the configuration names another one.
 * Null: it does not.
 */
export function standInWarning(config: Config, { provider, wanted }: { provider: ProviderConfig; wanted: string | null }): string | null {
  if (!isEmbedded(config, provider) || wanted === null || wanted === 'scripted') return null;
  const isChosen = config.layerOf(['model_provider']) !== null;
  const why = isChosen ? 'the provider scripted has no other model' : 'there is no provider for it, because no API key was found';
  const advice = isChosen ? 'Choose another provider with model_provider in config.toml.' : modelAdvice(config);
  return `${wanted} does not answer in this thread: ${why}. The embedded model answers in its place, offline. ${advice}`;
}
