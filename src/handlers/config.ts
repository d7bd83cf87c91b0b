import type { Config } from '../config/config.ts';
import { configReadResponse } from '../config/config-read-response.ts';
import type { MethodTable } from './method.ts';

export function configMethods({ config }: { config: (cwd: string | null) => Promise<Config> }) {
  return {
    'config/read': {
      queue: null,
      async handle({ cwd, includeLayers }, { caller }) {
        return configReadResponse(await config(cwd ?? null), {
          includeLayers: includeLayers === true,
          experimental: caller.experimentalApi,
        });
      },
    },
  } satisfies Partial<MethodTable>;
}
