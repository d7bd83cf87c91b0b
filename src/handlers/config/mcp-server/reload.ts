import { type MethodTable, unqueued } from '../../requested/method.ts';
import type { ThreadDeps } from '../../thread-loading/thread-deps.ts';

export function reloadMethods({ threads }: Pick<ThreadDeps, 'threads'>) {
  return {
    'config/mcpServer/reload': {
      order: unqueued,
      handle(_params, { after }) {
        after(() => void threads.reloadConfiguration('mcp'));
        return {};
      },
    },
  } satisfies Partial<MethodTable>;
}
