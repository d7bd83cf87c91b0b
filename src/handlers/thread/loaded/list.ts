import { isUuid } from '../../../base/ids.ts';
import { invalidCursor } from '../../../protocol/rpc-error.ts';
import { type MethodTable, pageLimit } from '../../method.ts';
import type { ThreadDeps } from '../../thread-deps.ts';

export function loadedMethods({ threads }: ThreadDeps) {
  return {
    'thread/loaded/list': {
      queue: null,
      handle({ cursor, limit }) {
        if (cursor && !isUuid(cursor)) throw invalidCursor(cursor);
        const after = cursor ? threads.ids().filter((id) => id > cursor) : threads.ids();
        const data = limit === null || limit === undefined ? after : after.slice(0, pageLimit(limit));
        return { data, nextCursor: data.length < after.length ? (data.at(-1) ?? null) : null };
      },
    },
  } satisfies Partial<MethodTable>;
}
