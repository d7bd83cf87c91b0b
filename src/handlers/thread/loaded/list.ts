import { isUuid } from '../../../base/ids.ts';
import { invalidCursor } from '../../../protocol/rpc-error.ts';
import { listPage } from '../../requested/list-page.ts';
import { type MethodTable, unqueued } from '../../requested/method.ts';
import type { ThreadServices } from '../../thread-loading/thread-services.ts';

export function loadedMethods({ threads }: ThreadServices) {
  return {
    'thread/loaded/list': {
      order: unqueued,
      handle({ cursor, limit }) {
        if (cursor && !isUuid(cursor)) throw invalidCursor(cursor);
        const after = cursor ? threads.ids().filter((id) => id > cursor) : threads.ids();
        return listPage(after, limit, (id) => id);
      },
    },
  } satisfies Partial<MethodTable>;
}
