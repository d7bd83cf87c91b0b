import type { Config } from '../config/config.ts';
import { chooseProvider } from '../config/providers/choose-provider.ts';
import { validOrNull } from '../config/valid-or-null.ts';
import type { MethodTable } from './method.ts';

export function accountMethods({ config }: { config: () => Promise<Config> }) {
  return {
    'account/read': {
      queue: null,
      async handle() {
        const settings = await config();
        const provider = await validOrNull(() => chooseProvider(settings, null).provider);
        const isOpenai = provider?.id === 'openai' && provider.wireApi !== 'scripted';
        const key = provider?.envKey ?? '';
        const isStored = provider?.usesLogin === true && settings.login.apiKey !== null;
        const hasKey = isStored || (Object.hasOwn(settings.env, key) && settings.env[key] !== '');
        return { account: isOpenai && hasKey ? { type: 'apiKey' } : null, userId: null, requiresOpenaiAuth: isOpenai };
      },
    },
  } satisfies Partial<MethodTable>;
}
