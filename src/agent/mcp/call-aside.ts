import { isObject, type JsonObject } from '../../base/json-value.ts';
import { isToolEnabled } from '../../config/mcp/mcp-server-config.ts';
import { McpError } from '../../mcp/messages/mcp-error.ts';
import type { McpCallOutcome } from '../../mcp/messages/mcp-host.ts';
import type { McpToolCallResult } from '../../protocol/generated/types.ts';
import type { ThreadServer } from './thread-servers.ts';

/** A call of a tool of an MCP server by another part. */
export interface AsideCall {
  server: string;
  tool: string;
  input: JsonObject;
}

/** Of the output for models, which nobody reads here. */
const OUTPUT_CHARS_MAX = 1_000;

/**
 * Calls a tool for another part of the thread: nobody is asked, no item shows it, and questions of
 * the server are declined. Returns the text of the result, as it would be kept with an item: a very
 * long one is cut. Rejects with an McpError, also if the tool reports an error.
 */
export async function callAside(
  { server, config, user }: ThreadServer,
  { tool, input }: AsideCall,
  signal: AbortSignal,
): Promise<string> {
  await server.settled(signal);
  const isOffered =
    isToolEnabled(config, tool) &&
    (server.connected === null || server.tools.some(({ name }) => name === tool));
  if (!isOffered)
    throw new McpError(
      'other',
      `the MCP server ${config.name} has no tool ${tool}, or its configuration disables it`,
    );
  const request = {
    op: 'callTool' as const,
    name: tool,
    arguments: input,
    meta: null,
    charsMax: OUTPUT_CHARS_MAX,
  };
  const value = await server.request(request, { timeoutMs: config.toolTimeoutMs, signal, user });
  const { result, isError } = value as unknown as McpCallOutcome;
  const text = textOf(result);
  if (isError) throw new McpError('other', text === '' ? 'the tool has failed' : text);
  return text;
}

/** The text blocks of a result; if it has none, its structured content as JSON. */
function textOf({ content, structuredContent }: McpToolCallResult): string {
  const texts = content.flatMap((block) =>
    isObject(block) && block.type === 'text' && typeof block.text === 'string' ? block.text : [],
  );
  if (texts.length > 0) return texts.join('\n');
  return structuredContent == null ? '' : JSON.stringify(structuredContent);
}
