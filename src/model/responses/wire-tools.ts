import type { JsonObject } from '../../base/json-value.ts';
import type { ToolSpec } from '../model.ts';

/** The tools of a Responses API request. Those of one namespace are together, where the first of them is. */
export function wireTools(tools: readonly ToolSpec[]): JsonObject[] {
  const body: JsonObject[] = [];
  const namespaces = new Map<string, JsonObject[]>();
  for (const tool of tools) {
    if (tool.type !== 'function') {
      body.push({ ...tool });
      continue;
    }
    const { namespace, ...spec } = tool;
    const shown = { ...spec, strict: false };
    if (namespace === undefined) {
      body.push(shown);
      continue;
    }
    const others = namespaces.get(namespace.name);
    if (others !== undefined) {
      others.push(shown);
      continue;
    }
    const group = [shown];
    namespaces.set(namespace.name, group);
    body.push({ type: 'namespace', ...namespace, tools: group });
  }
  return body;
}
