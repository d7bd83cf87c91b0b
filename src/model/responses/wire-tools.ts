import type { JsonObject } from '../../base/json-value.ts';
import type { ToolSpec } from '../model.ts';

/**
 * Tools as the Responses API takes them. Those of one namespace are together, where the first of
 * them is. `isDeferred`: they were found by a search.
 */
export function wireTools(tools: readonly ToolSpec[], { isDeferred = false } = {}): JsonObject[] {
  const wire: JsonObject[] = [];
  const namespaces = new Map<string, JsonObject[]>();
  for (const tool of tools) {
    if (tool.type !== 'function') {
      wire.push(wireTool(tool));
      continue;
    }
    const { namespace, ...spec } = tool;
    const shown = { ...spec, strict: false, ...(isDeferred && { defer_loading: true }) };
    const others = namespace === undefined ? wire : namespaces.get(namespace.name);
    if (others !== undefined) others.push(shown);
    else if (namespace !== undefined) {
      const group = [shown];
      namespaces.set(namespace.name, group);
      wire.push({ type: 'namespace', ...namespace, tools: group });
    }
  }
  return wire;
}

function wireTool(tool: Exclude<ToolSpec, { type: 'function' }>): JsonObject {
  if (tool.type !== 'tool_search') return { ...tool };
  const { name: _, ...search } = tool;
  return { ...search, execution: 'client' };
}
