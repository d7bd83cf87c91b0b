import { type MethodTable, unqueued } from '../../requested/method.ts';
import type { ThreadServices } from '../../thread-loading/thread-services.ts';

export function reloadMethods({ threads }: Pick<ThreadServices, 'threads'>) {
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
