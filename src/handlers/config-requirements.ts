import type { MethodTable } from './method.ts';

export function configRequirementsMethods() {
  return {
    'configRequirements/read': {
      queue: null,
      handle: () => ({ requirements: null, supportsIndependentSpeedModes: null }),
    },
  } satisfies Partial<MethodTable>;
}
