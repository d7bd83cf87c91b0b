import { cutText } from '../../base/text/cut-text.ts';
import type { McpToolList } from '../../mcp/to-host.ts';

const NAMED_MAX = 10;
const WHY_CHARS_MAX = 300;

/** The warning that a model is not offered these tools of a server; null: there are none. */
export function toolWarning(server: string, leftOut: McpToolList['leftOut']): string | null {
  if (leftOut.length === 0) return null;
  const named = leftOut
    .slice(0, NAMED_MAX)
    .map(({ name, why }) => `${name} (${cutText(why, WHY_CHARS_MAX)})`);
  const more = leftOut.length - named.length;
  return `The model is not offered these tools of the MCP server ${server}: ${named.join(', ')}${more > 0 ? `, and ${more} more` : ''}.`;
}
