import { McpTools } from '../../../agent/mcp/mcp-tools.ts';
import type { MethodTable } from '../../method.ts';
import type { ThreadDeps } from '../../thread-deps.ts';

export function reloadMethods({ threads }: Pick<ThreadDeps, 'threads'>) {
  return {
    'config/mcpServer/reload': {
      queue: null,
      async handle() {
        const loaded = threads.ids().flatMap((id) => threads.find(id) ?? []);
        await Promise.all(loaded.map((thread) => thread.part(McpTools).reload()));
        return {};
      },
    },
  } satisfies Partial<MethodTable>;
}
