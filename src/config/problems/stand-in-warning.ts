import { join } from 'node:path';
import type { Config } from '../config.ts';
import { foundCodexHome } from '../login/codex-home.ts';
import { loginAdvice } from '../login/stored-login.ts';
import { isEmbedded } from '../providers/choose-provider.ts';
import { isEmbeddedName } from '../providers/embedded-names.ts';
import type { ProviderConfig } from '../providers/provider-config.ts';

/** The advice how to get answers of a real model. Sentences. */
export function modelAdvice(config: Config): string {
  const advice = `${loginAdvice(config.login)} Set model_provider in config.toml, or OPENAI_API_KEY in the environment.`;
  return `${advice}${homeAdvice(config)}`.trimStart();
}

/** For users of Codex, who expect its settings and its key to count. */
function homeAdvice({ home, env }: Config): string {
  const userHome = env.HOME || null;
  const codex =
    userHome !== null && home === join(userHome, '.heddle') ? foundCodexHome(userHome) : null;
  return codex === null
    ? ''
    : ` To use the settings and the key of Codex, set CODEX_HOME=${codex}.`;
}

/** The provider of a thread, and the model that its request or the configuration names. */
interface WantedModel {
  provider: ProviderConfig;
  /** Whether the provider is the embedded model because there is no other. */
  embeddedDefault: boolean;
  wanted: string | null;
}

/**
 * Says that the embedded model answers in a thread although the request or the configuration names
 * another one. Null: it does not. `advice` is for the client of the thread.
 */
export function standInWarning(
  config: Config,
  { provider, embeddedDefault, wanted }: WantedModel,
): { problem: string; advice: string } | null {
  if (!isEmbedded(config, provider) || wanted === null || isEmbeddedName(wanted)) return null;
  const why = embeddedDefault
    ? 'there is no provider for it, because no API key was found'
    : `the provider ${provider.id} has no other model`;
  const advice = embeddedDefault ? modelAdvice(config) : OTHER_PROVIDER;
  const problem = `${wanted} does not answer in this thread: ${why}. The embedded model answers in its place, offline.`;
  return { problem, advice };
}

/** A thread that exists keeps the provider that was chosen for it. */
const OTHER_PROVIDER =
  'Choose another provider with modelProvider of the request or, for new threads, with model_provider in config.toml.';
