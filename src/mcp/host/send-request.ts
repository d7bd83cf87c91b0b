import type { Client, ProgressCallback } from '@modelcontextprotocol/client';
import { monotonicMs } from '../../base/clock.ts';
import type { JsonValue } from '../../base/json-value.ts';
import { cutText } from '../../base/text/cut-text.ts';
import type { McpRequest, Progress } from '../messages/mcp-host.ts';
import { limitedResult } from './limited-result.ts';
import { toolList } from './tool-list.ts';

/** The main thread decides how long to wait: it cancels. */
export const NO_TIMEOUT_MS = 2 ** 31 - 1;
const PROGRESS_CHARS_MAX = 2_000;
/** The least time between two reports of progress. */
const PROGRESS_MS_MIN = 50;

interface SendOptions {
  signal: AbortSignal;
  /** Called only so often. The last state of a pause is left out: the result follows. */
  onProgress(progress: Progress): void;
}

type Sent<Op extends McpRequest['op']> = Extract<McpRequest, { op: Op }>;

/**
 * Sends a request to a server, and returns its result as data, within its limits. Rejects with the
 * library's errors.
 */
export async function sendRequest(
  client: Client,
  request: McpRequest,
  options: SendOptions,
): Promise<JsonValue> {
  if (request.op === 'listTools')
    return listTools(client, { signal: options.signal, timeout: NO_TIMEOUT_MS });
  return limitedResult(request, await send(client, request, options));
}

function send(
  client: Client,
  request: Exclude<McpRequest, { op: 'listTools' }>,
  { signal, onProgress }: SendOptions,
): Promise<JsonValue> {
  const options = { signal, timeout: NO_TIMEOUT_MS };
  switch (request.op) {
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
  const hasTools = client.getServerCapabilities()?.tools !== undefined;
  const { tools } = hasTools
    ? await client.listTools(undefined, { ...options, cacheMode: 'refresh' })
    : { tools: [] };
  return toolList(tools) as unknown as JsonValue;
}

async function callTool(
  client: Client,
  { name, arguments: args, meta }: Sent<'callTool'>,
  { onProgress, ...options }: LibraryOptions & SendOptions,
): Promise<JsonValue> {
  let lastMs = Number.NEGATIVE_INFINITY;
  const onprogress: ProgressCallback = ({ progress, total, message }) => {
    const nowMs = monotonicMs();
    if (nowMs - lastMs < PROGRESS_MS_MIN) return;
    lastMs = nowMs;
    onProgress({
      progress,
      total: total ?? null,
      message: cutText(message ?? '', PROGRESS_CHARS_MAX) || null,
    });
  };
  return (await client.callTool(
    { name, arguments: args, ...(meta && { _meta: meta }) },
    { ...options, onprogress },
  )) as JsonValue;
}

async function listResources(
  client: Client,
  { cursor }: Sent<'listResources'>,
  options: LibraryOptions,
): Promise<JsonValue> {
  if (client.getServerCapabilities()?.resources === undefined) return { resources: [] };
  return (await client.listResources(
    cursor === null ? undefined : { cursor },
    options,
  )) as JsonValue;
}

async function listTemplates(
  client: Client,
  { cursor }: Sent<'listResourceTemplates'>,
  options: LibraryOptions,
): Promise<JsonValue> {
  if (client.getServerCapabilities()?.resources === undefined) return { resourceTemplates: [] };
  return (await client.listResourceTemplates(
    cursor === null ? undefined : { cursor },
    options,
  )) as JsonValue;
}

async function readResource(
  client: Client,
  { uri, meta }: Sent<'readResource'>,
  options: LibraryOptions,
): Promise<JsonValue> {
  return (await client.readResource(
    { uri, ...(meta && { _meta: meta }) },
    { ...options, cacheMode: 'refresh' },
  )) as JsonValue;
}
