import { type AccountDeps, credentials } from './account.ts';
import { type MethodTable, unqueued } from './requested/method.ts';

export function getAuthStatusMethods({ config }: Pick<AccountDeps, 'config'>) {
  return {
    getAuthStatus: {
      order: unqueued,
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
