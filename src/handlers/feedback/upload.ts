import { feedbackNotSent } from '../../protocol/rpc-error.ts';
import type { MethodTable } from '../requested/method.ts';

export function feedbackUploadMethods() {
  return {
    'feedback/upload': {
      queue: null,
      handle() {
        throw feedbackNotSent();
      },
    },
  } satisfies Partial<MethodTable>;
}
