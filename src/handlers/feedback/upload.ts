import { feedbackNotSent } from '../../protocol/rpc-error.ts';
import { atOnce, type MethodTable } from '../requested/method.ts';

export function feedbackUploadMethods() {
  return {
    'feedback/upload': {
      order: atOnce,
      handle() {
        throw feedbackNotSent();
      },
    },
  } satisfies Partial<MethodTable>;
}
