import { type MethodTable, unqueued } from '../../requested/method.ts';
import type { Diagnostics } from '../diagnostics.ts';

export function connectionMethods({ connections }: Pick<Diagnostics, 'connections'>) {
  return {
    'server/connection/close': {
      order: unqueued,
      handle({ connectionId }, { after, caller }) {
        // A client that ends its own connection gets the response first.
        if (connectionId !== caller.id) return { closed: connections.end(connectionId) };
        after(() => void connections.end(connectionId));
        return { closed: true };
      },
    },
  } satisfies Partial<MethodTable>;
}
