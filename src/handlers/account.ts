import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import { chooseProvider } from '../config/providers/choose-provider.ts';
import type { ProviderConfig } from '../config/providers/provider-config.ts';
import type { MethodTable } from './method.ts';

export function accountMethods({ config }: { config: () => Promise<Config> }) {
  return {
    'account/read': {
      queue: null,
      async handle() {
        const settings = await config();
        const provider = configuredProvider(settings);
        const isOpenai = provider?.id === 'openai' && provider.wireApi !== 'scripted';
        const key = provider?.envKey ?? '';
        const hasKey = Object.hasOwn(settings.env, key) && settings.env[key] !== '';
        return { account: isOpenai && hasKey ? { type: 'apiKey' } : null, userId: null, requiresOpenaiAuth: isOpenai };
      },
    },
  } satisfies Partial<MethodTable>;
}

/** Null where it is configured wrongly: a client has been warned of it, and gets through its start. */
function configuredProvider(config: Config): ProviderConfig | null {
  try {
    return chooseProvider(config, null).provider;
  } catch (error) {
    if (error instanceof ConfigError) return null;
    throw error;
  }
}
