import { join } from 'node:path';
import type { JsonObject } from '../../src/base/json-value.ts';
import type { ModelEvent, ModelRequest, ToolSpec } from '../../src/model/model.ts';
import type { ThreadItem } from '../../src/protocol/generated/types.ts';
import { idOf } from '../support/counting-ids.ts';
import { functionCall, message, response, TestModel } from '../support/test-model.ts';
import { startServer, type TestServer, type TestServerOptions } from '../support/test-server.ts';

/** A picture of one pixel, as the example server sends it. */
export const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
export const EXAMPLE_SERVER = join(import.meta.dirname, 'example-server.js');
const BASE = `model = "test-model"
model_provider = "test"
[model_providers.test]
base_url = "http://127.0.0.1:9"
`;

export type McpItem = Extract<ThreadItem, { type: 'mcpToolCall' }>;

/** The configuration of an example server. `more`: further lines of its table. */
export function exampleServer(name = 'ex', more = '', env: Record<string, string> = {}): string {
  const variables = Object.entries(env).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
  return `[mcp_servers.${name}]
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(EXAMPLE_SERVER)}]
env = { ${variables.join(', ')} }
${more}
`;
}

/** A config.toml with these servers. `top`: settings outside of tables. */
export function withServers(servers = exampleServer(), top = ''): string {
  return `${top}\n${BASE}${servers}`;
}

/** The events of a call of a server's tool. */
export function mcpCall(
  tool: string,
  args: JsonObject = {},
  { callId = 'call_1', server = 'ex' } = {},
): ModelEvent[] {
  return functionCall(tool, args, { callId }).map((event) =>
    'item' in event && event.item.type === 'function_call'
      ? { ...event, item: { ...event.item, namespace: `mcp__${server}` } }
      : event,
  ) as ModelEvent[];
}

/**
 * A server with a thread, whose model makes these calls one after another and then ends its turn.
 */
export async function mcpThread(
  calls: ModelEvent[][],
  { config = withServers(), ...options }: TestServerOptions & { thread?: object } = {},
): Promise<TestServer & { threadId: string }> {
  const model = new TestModel(...calls.map((call) => response(call)), response(message('done')));
  const server = await startServer({ model, config, ...options });
  await server.client.request('thread/start', { ...options.thread });
  return { ...server, threadId: idOf(1) };
}

export async function runTurn(
  { client, threadId }: { client: TestServer['client']; threadId: string },
  params: object = {},
) {
  const { turn } = await client.request('turn/start', {
    threadId,
    input: [{ type: 'text', text: 'go', text_elements: [] }],
    ...params,
  });
  return client.turnCompleted(turn.id);
}

/** The completed items of MCP calls. */
export function mcpItems({ client }: Pick<TestServer, 'client'>): McpItem[] {
  return client
    .notifications('item/completed')
    .flatMap(({ item }) => (item.type === 'mcpToolCall' ? [item] : []));
}

/** The output of a call that the model read: its text, or its parts. */
export function toldOf({ model }: Pick<TestServer, 'model'>, callId = 'call_1'): unknown {
  const read = model.requests
    .at(-1)
    ?.input.find((item) => item.type === 'function_call_output' && item.call_id === callId);
  const output = read?.type === 'function_call_output' ? read.output : undefined;
  return typeof output === 'object' && output !== null && 'body' in output ? output.body : output;
}

/** The text that the model read for a call. */
export function textOf(server: Pick<TestServer, 'model'>, callId = 'call_1'): string {
  const told = toldOf(server, callId);
  return typeof told === 'string' ? told : JSON.stringify(told);
}

/** The tools of a server's namespace in a request. */
export function offeredBy(
  request: ModelRequest | undefined,
  server = 'ex',
): Extract<ToolSpec, { type: 'function' }>[] {
  return (request?.tools ?? []).flatMap((tool) =>
    tool.type === 'function' && tool.namespace?.name === `mcp__${server}` ? [tool] : [],
  );
}

/** Waits until this is so, also if it is so already. */
export async function until(
  { client }: Pick<TestServer, 'client'>,
  what: string,
  isSo: () => boolean,
): Promise<void> {
  if (!isSo()) await client.next(what, isSo);
}
