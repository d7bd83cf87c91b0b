import type { Client, ProgressCallback, Tool } from '@modelcontextprotocol/client';
import type { JsonObject, JsonValue } from '../../base/json-value.ts';
import type { FromHost, McpRequest, McpTool, McpToolAnnotations } from '../to-host.ts';

/** The main thread decides how long to wait: it cancels. */
export const NO_TIMEOUT_MS = 2 ** 31 - 1;
/** A server that sends more tools than this is refused. */
const TOOLS_MAX = 2000;

export type Progress = Extract<FromHost, { type: 'progress' }>['progress'];

interface SendOptions {
  signal: AbortSignal;
  onProgress(progress: Progress): void;
}

type Sent<Op extends McpRequest['op']> = Extract<McpRequest, { op: Op }>;

/** Sends a request to a server, and returns its result as data. Rejects with the library's errors. */
export async function sendRequest(client: Client, request: McpRequest, { signal, onProgress }: SendOptions): Promise<JsonValue> {
  const options = { signal, timeout: NO_TIMEOUT_MS };
  switch (request.op) {
    case 'listTools':
      return listTools(client, options);
    case 'callTool':
      return callTool(client, request, { ...options, onProgress });
    case 'listResources':
      return listResources(client, request, options);
    case 'listResourceTemplates':
      return listTemplates(client, request, options);
    case 'readResource':
      return readResource(client, request, options);
    default:
      return request satisfies never;
  }
}

interface LibraryOptions {
  signal: AbortSignal;
  timeout: number;
}

async function listTools(client: Client, options: LibraryOptions): Promise<JsonValue> {
  if (client.getServerCapabilities()?.tools === undefined) return [];
  const { tools } = await client.listTools(undefined, { ...options, cacheMode: 'refresh' });
  if (tools.length > TOOLS_MAX) throw new Error(`the server has ${tools.length} tools; at most ${TOOLS_MAX} are taken`);
  return tools.map(toTool) as unknown as JsonValue;
}

async function callTool(
  client: Client,
  { name, arguments: args, meta }: Sent<'callTool'>,
  { onProgress, ...options }: LibraryOptions & SendOptions,
): Promise<JsonValue> {
  const onprogress: ProgressCallback = ({ progress, total, message }) =>
    onProgress({ progress, total: total ?? null, message: message ?? null });
  return (await client.callTool({ name, arguments: args, ...(meta && { _meta: meta }) }, { ...options, onprogress })) as JsonValue;
}

async function listResources(client: Client, { cursor }: Sent<'listResources'>, options: LibraryOptions): Promise<JsonValue> {
  if (client.getServerCapabilities()?.resources === undefined) return { resources: [] };
  return (await client.listResources(cursor === null ? undefined : { cursor }, options)) as JsonValue;
}

async function listTemplates(client: Client, { cursor }: Sent<'listResourceTemplates'>, options: LibraryOptions): Promise<JsonValue> {
  if (client.getServerCapabilities()?.resources === undefined) return { resourceTemplates: [] };
  return (await client.listResourceTemplates(cursor === null ? undefined : { cursor }, options)) as JsonValue;
}

async function readResource(client: Client, { uri, meta }: Sent<'readResource'>, options: LibraryOptions): Promise<JsonValue> {
  return (await client.readResource({ uri, ...(meta && { _meta: meta }) }, { ...options, cacheMode: 'refresh' })) as JsonValue;
}

function toTool(tool: Tool): McpTool {
  return {
    name: tool.name,
    title: tool.title ?? tool.annotations?.title ?? null,
    description: tool.description ?? null,
    inputSchema: tool.inputSchema as unknown as JsonObject,
    raw: tool as unknown as JsonObject,
    annotations: (tool.annotations ?? null) as McpToolAnnotations | null,
  };
}
