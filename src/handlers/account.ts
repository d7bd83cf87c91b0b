import type { Config } from '../config/config.ts';
import { chooseProvider } from '../config/providers/choose-provider.ts';
import { isOffline, type ProviderConfig } from '../config/providers/provider-config.ts';
import { validOrNull } from '../config/valid-or-null.ts';
import {
  invalidApiKey,
  invalidLoginId,
  loginNotSupported,
  noRateLimits,
} from '../protocol/errors/account-errors.ts';
import type { AuthMode, RateLimitSnapshot } from '../protocol/generated/types.ts';
import type { Configured } from './config-writing/configured.ts';
import type { LoginWriter } from './config-writing/login-writer.ts';
import { beforeOthersIn, inQueue, type MethodTable, unqueued } from './requested/method.ts';
import type { ThreadServices } from './thread-loading/thread-services.ts';

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
const API_KEY = /^[\x21-\x7e]{1,8192}$/;
/** Logins and logouts take effect in the order in which they came. */
const inOrder = () => 'account/login';

/** The logins of the server. */
export interface Accounts {
  loginWriter: LoginWriter;
  /** Has the rate limits that a provider has told last; null: none has. */
  rateLimits: { readonly latest: RateLimitSnapshot | null };
}

type AccountServices = Accounts &
  Pick<Configured, 'config'> &
  Pick<ThreadServices, 'clients' | 'threads'>;

export function accountMethods({
  config,
  loginWriter,
  threads,
  rateLimits,
  clients,
}: AccountServices) {
  const announceUpdate = async () => {
    const { authMode } = await credentials(config);
    return () => clients.publish('everyone', 'account/updated', { authMode, planType: null });
  };
  return {
    'account/read': {
      order: unqueued,
      async handle() {
        const { authMode, requiresOpenaiAuth } = await credentials(config);
        return {
          account: authMode === null ? null : { type: 'apiKey' },
          userId: null,
          requiresOpenaiAuth,
          workspaceRouting: null,
        };
      },
    },

    'account/login/start': {
      order: beforeOthersIn(inOrder),
      async handle(params, { after }) {
        if (params.type !== 'apiKey') throw loginNotSupported(params.type);
        const key = params.apiKey.trim();
        if (!API_KEY.test(key)) throw invalidApiKey();
        await loginWriter.store(key);
        const update = await announceUpdate();
        after(() => {
          clients.publish('everyone', 'account/login/completed', {
            loginId: null,
            success: true,
            error: null,
            onboardingEntrypoint: null,
          });
          update();
          // Turns that begin later wait for it.
          void threads.reloadConfiguration('provider');
        });
        return { type: 'apiKey' };
      },
    },

    'account/login/cancel': {
      order: inQueue(inOrder),
      handle({ loginId }) {
        if (!UUID.test(loginId)) throw invalidLoginId();
        return { status: 'notFound' };
      },
    },

    'account/logout': {
      order: beforeOthersIn(inOrder),
      async handle(_params, { after }) {
        await loginWriter.remove();
        after(await announceUpdate());
        return {};
      },
    },

    'account/rateLimits/read': {
      order: unqueued,
      handle() {
        const limits = rateLimits.latest;
        if (limits === null) throw noRateLimits();
        return {
          rateLimits: limits,
          rateLimitsByLimitId: limits.limitId === null ? null : { [limits.limitId]: limits },
        };
      },
    },
  } satisfies Partial<MethodTable>;
}

/** The credentials that requests of the default provider have. */
export interface Credentials {
  /** Null: none. */
  authMode: AuthMode | null;
  key: string | null;
  requiresOpenaiAuth: boolean;
}

/** Returns the credentials as they are now. Without a valid configuration there are none. */
export async function credentials(config: () => Promise<Config>): Promise<Credentials> {
  const settings = await validOrNull(config);
  const provider =
    settings === null ? null : await validOrNull(() => chooseProvider(settings, null).provider);
  if (settings === null || provider === null || !takesLogin(provider))
    return { authMode: null, key: null, requiresOpenaiAuth: false };
  const { envKey } = provider;
  const fromEnv =
    envKey !== null && Object.hasOwn(settings.env, envKey)
      ? (settings.env[envKey]?.trim() ?? '')
      : '';
  const key = settings.login.apiKey ?? (fromEnv === '' ? null : fromEnv);
  return { authMode: key === null ? null : 'apikey', key, requiresOpenaiAuth: true };
}

function takesLogin(provider: ProviderConfig): boolean {
  return provider.usesLogin && !isOffline(provider);
}
