import { cutText } from '../../base/text/cut-text.ts';
import type { McpServerConfig } from '../../config/mcp/mcp-server-config.ts';
import type { McpToolList } from '../../mcp/messages/mcp-host.ts';

const NAMED_MAX = 10;
const WHY_CHARS_MAX = 300;

/**
 * The warning about tools of a server that a model is not offered although the configuration lets
 * it use them. Null: there are none.
 */
export function toolWarning(
  { name, enabledTools }: McpServerConfig,
  { tools, leftOut }: McpToolList,
): string | null {
  const has = new Set([...tools, ...leftOut].map((tool) => tool.name));
  const unknown = (enabledTools ?? []).filter((tool) => !has.has(tool));
  const parts = [
    ...(leftOut.length === 0
      ? []
      : [
          `The model is not offered these tools of the MCP server ${name}: ${some(leftOut.map(shown))}.`,
        ]),
    ...(unknown.length === 0
      ? []
      : [`The MCP server ${name} has no tools of these names in enabled_tools: ${some(unknown)}.`]),
  ];
  return parts.length === 0 ? null : parts.join(' ');
}

function shown({ name, why }: McpToolList['leftOut'][number]): string {
  return `${name} (${cutText(why, WHY_CHARS_MAX)})`;
}

function some(names: readonly string[]): string {
  const more = names.length - NAMED_MAX;
  return `${names.slice(0, NAMED_MAX).join(', ')}${more > 0 ? `, and ${more} more` : ''}`;
}
