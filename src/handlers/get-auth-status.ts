import { type AccountDeps, credentials } from './account.ts';
import { atOnce, type MethodTable } from './requested/method.ts';

export function getAuthStatusMethods({ config }: Pick<AccountDeps, 'config'>) {
  return {
    getAuthStatus: {
      order: atOnce,
      async handle({ includeToken }) {
        const { authMode, key, requiresOpenaiAuth } = await credentials(config);
        return {
          authMethod: authMode,
          authToken: includeToken === true ? key : null,
          requiresOpenaiAuth,
        };
      },
    },
  } satisfies Partial<MethodTable>;
}
