import { credentials } from './account.ts';
import type { Configured } from './config-writing/configured.ts';
import { type MethodTable, unqueued } from './requested/method.ts';

export function getAuthStatusMethods({ config }: Pick<Configured, 'config'>) {
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
