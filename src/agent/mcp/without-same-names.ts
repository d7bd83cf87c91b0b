import { flatSpecName } from '../../model/flat-tool-name.ts';
import type { Tool } from '../../tools/tool.ts';

/**
 * The tools without those whose names are equal where an API knows no namespaces, such as `b__c` of
 * `mcp__a` and `c` of `mcp__a__b`: a call or an approval of one could reach the other. The warning
 * names them; null: there are none.
 */
export function withoutSameNames(tools: readonly Tool[]): {
  tools: Tool[];
  warning: string | null;
} {
  const byName = new Map<string, Tool[]>();
  for (const tool of tools) {
    const name = flatSpecName(tool.spec);
    byName.set(name, [...(byName.get(name) ?? []), tool]);
  }
  const same = [...byName.values()].filter(({ length }) => length > 1);
  if (same.length === 0) return { tools: [...tools], warning: null };
  const refused = new Set(same.flat());
  const names = same.map((group) => group.map(nameWithNamespace).join(' and ')).join('; ');
  return {
    tools: tools.filter((tool) => !refused.has(tool)),
    warning: `MCP tools with the same name for the model are not offered: ${names}. Rename a server to use them.`,
  };
}

function nameWithNamespace({ spec }: Tool): string {
  const namespace = spec.type === 'function' ? spec.namespace?.name : undefined;
  return namespace === undefined ? spec.name : `${spec.name} of ${namespace}`;
}
