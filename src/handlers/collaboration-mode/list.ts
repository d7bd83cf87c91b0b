import { type MethodTable, unqueued } from '../requested/method.ts';

export function collaborationModeMethods() {
  return {
    // The models and efforts are the thread's own: a preset would not suit every provider.
    'collaborationMode/list': {
      order: unqueued,
      handle: () => ({
        data: [
          { name: 'Plan', mode: 'plan', model: null, reasoning_effort: null },
          { name: 'Default', mode: 'default', model: null, reasoning_effort: null },
        ],
      }),
    },
  } satisfies Partial<MethodTable>;
}
