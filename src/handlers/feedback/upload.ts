import { feedbackNotSent } from '../../protocol/rpc-error.ts';
import { type MethodTable, unqueued } from '../requested/method.ts';

export function feedbackUploadMethods() {
  return {
    'feedback/upload': {
      order: unqueued,
      handle() {
        throw feedbackNotSent();
      },
    },
  } satisfies Partial<MethodTable>;
}
