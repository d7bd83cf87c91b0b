import { atOnce, type MethodTable } from '../../requested/method.ts';
import type { ThreadDeps } from '../../thread-loading/thread-deps.ts';

export function reloadMethods({ threads }: Pick<ThreadDeps, 'threads'>) {
  return {
    'config/mcpServer/reload': {
      order: atOnce,
      handle(_params, { after }) {
        after(() => void threads.reloadConfiguration('mcp'));
        return {};
      },
    },
  } satisfies Partial<MethodTable>;
}
