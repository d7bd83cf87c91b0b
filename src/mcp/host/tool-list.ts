import type { Tool } from '@modelcontextprotocol/client';
import type { JsonObject } from '../../base/json-value.ts';
import { cutText } from '../../base/text/cut-text.ts';
import { offeredSchema } from '../../model/offered-schema.ts';
import type { McpTool, McpToolAnnotations, McpToolList } from '../messages/mcp-host.ts';
import { type JsonLimits, leftOf } from './limits/json-limits.ts';

/** A server that sends more tools than this is refused. */
const TOOLS_MAX = 2000;
/** The longest texts of a tool: models and reviewers read them. */
const TITLE_CHARS_MAX = 1_000;
const DESCRIPTION_CHARS_MAX = 10_000;
const LEFT_OUT_NAME_CHARS_MAX = 100;
/** All tools of a server together. */
const LIST: JsonLimits = { chars: 8 * 1024 * 1024, values: 50_000, depth: 100 };

/**
 * The tools of a server that can be offered, within the limits of a list. Throws if there are too
 * many.
 */
export function toolList(all: readonly Tool[]): McpToolList {
  if (all.length > TOOLS_MAX)
    throw new Error(`the server has ${all.length} tools; at most ${TOOLS_MAX} are taken`);
  const tools = new Map<string, McpTool>();
  const leftOut: { name: string; why: string }[] = [];
  let left = LIST;
  for (const tool of all) {
    const { name } = tool;
    const inputSchema = offeredSchema(tool.inputSchema as unknown as JsonObject);
    const after = leftOf(left, tool);
    const leaveOut = (why: string) =>
      leftOut.push({ name: cutText(name, LEFT_OUT_NAME_CHARS_MAX), why });
    if (tools.has(name)) leaveOut('another tool has its name');
    else if (typeof inputSchema === 'string') leaveOut(inputSchema);
    else if (after === null) leaveOut('the list of tools is too long');
    else {
      tools.set(name, toTool(tool, inputSchema));
      left = after;
    }
  }
  return { tools: [...tools.values()], leftOut };
}

function toTool(tool: Tool, inputSchema: JsonObject): McpTool {
  const { title, ...hints } = tool.annotations ?? {};
  const annotations = {
    ...hints,
    ...(title !== undefined && { title: cutText(title, TITLE_CHARS_MAX) }),
  } as McpToolAnnotations;
  return {
    name: tool.name,
    title: cutText(tool.title ?? title ?? '', TITLE_CHARS_MAX) || null,
    description:
      tool.description === undefined ? null : cutText(tool.description, DESCRIPTION_CHARS_MAX),
    inputSchema,
    raw: tool as unknown as JsonObject,
    annotations: tool.annotations === undefined ? null : annotations,
  };
}
