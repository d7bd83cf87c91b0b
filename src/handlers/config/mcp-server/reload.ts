import type { MethodTable } from '../../method.ts';
import type { ThreadDeps } from '../../thread-deps.ts';

export function reloadMethods({ threads }: Pick<ThreadDeps, 'threads'>) {
  return {
    'config/mcpServer/reload': {
      queue: null,
      handle(_params, { after }) {
        after(() => void threads.reloadConfiguration('mcp'));
        return {};
      },
    },
  } satisfies Partial<MethodTable>;
}
