import { isObject, type JsonObject, type JsonValue } from '../../base/json-value.ts';
import { charsOfTokens } from '../../base/text/estimate-tokens.ts';
import { McpError } from '../../mcp/messages/mcp-error.ts';
import type { McpTool } from '../../mcp/messages/mcp-host.ts';
import type { UntimedItem } from '../../protocol/generated/types.ts';
import {
  type Action,
  type ActionHost,
  type ActionOutcome,
  failed,
  UNCONFINED,
} from '../../tools/action.ts';
import { refusalText } from '../../tools/denial.ts';
import type { CallContext, Tool } from '../../tools/tool.ts';
import { McpCallAction } from './mcp-call-action.ts';
import type { McpThread } from './mcp-tool-call.ts';
import { type ResourceArguments, ResourceReader } from './resource-reader.ts';
import type { ThreadServer, ThreadServers } from './thread-servers.ts';

/** The server that an item names if the call is about all of them. */
const ALL_SERVERS = 'heddle';

interface ResourceTool {
  name: 'list_mcp_resources' | 'list_mcp_resource_templates' | 'read_mcp_resource';
  description: string;
  properties: JsonObject;
  required: string[];
  read(reader: ResourceReader, args: ResourceArguments): Promise<JsonValue>;
}

const SERVER = { type: 'string', description: 'The name of the MCP server. Absent: all servers.' };
const CURSOR = {
  type: 'string',
  description: 'The `nextCursor` of the page before. It needs `server`. Absent: the first page.',
};

const TOOLS: readonly ResourceTool[] = [
  {
    name: 'list_mcp_resources',
    description:
      'Lists the resources that MCP servers offer, such as files and tables. Read one with read_mcp_resource.',
    properties: { server: SERVER, cursor: CURSOR },
    required: [],
    read: (reader, args) => reader.list(args, { op: 'listResources', key: 'resources' }),
  },
  {
    name: 'list_mcp_resource_templates',
    description:
      'Lists the resource templates that MCP servers offer: fill in the parameters of their URIs, and read the resource.',
    properties: { server: SERVER, cursor: CURSOR },
    required: [],
    read: (reader, args) =>
      reader.list(args, { op: 'listResourceTemplates', key: 'resourceTemplates' }),
  },
  {
    name: 'read_mcp_resource',
    description: 'Reads a resource of an MCP server.',
    properties: {
      server: {
        type: 'string',
        description: 'The name of the MCP server, as list_mcp_resources shows it.',
      },
      uri: { type: 'string', description: 'The URI of the resource.' },
    },
    required: ['server', 'uri'],
    read: (reader, args) => reader.read(args),
  },
];

/** The tools that read the resources of the thread's servers. */
export function resourceTools(servers: ThreadServers, of: McpThread): Tool[] {
  return TOOLS.map((tool) => ({
    spec: {
      type: 'function',
      name: tool.name,
      description: tool.description,
      parameters: {
        type: 'object',
        properties: tool.properties,
        required: tool.required,
        additionalProperties: false,
      },
    },
    prepare: async (args, context) => prepare(tool, args, { context, servers, of }),
  }));
}

function prepare(
  tool: ResourceTool,
  args: JsonValue,
  { context, servers, of }: { context: CallContext; servers: ThreadServers; of: McpThread },
): Action | ActionOutcome {
  const given = isObject(args) ? (args as JsonObject) : {};
  const text = (key: string) =>
    typeof given[key] === 'string' && given[key] !== '' ? given[key] : null;
  const read: ResourceArguments = {
    server: text('server'),
    cursor: text('cursor'),
    uri: text('uri'),
  };
  const missing = tool.required.filter((key) => text(key) === null);
  if (missing.length > 0)
    return failed(
      `${tool.name} needs ${missing.map((key) => `\`${key}\``).join(' and ')}, as non-empty strings.`,
    );
  const named = read.server === null ? null : servers.find(read.server);
  const item = begun(context.itemId, {
    server: read.server ?? ALL_SERVERS,
    tool: tool.name,
    args: given,
  });
  const perform = async (
    _permit: unknown,
    _shown: unknown,
    host: ActionHost,
  ): Promise<ActionOutcome> => {
    const { state, services } = of.thread;
    const { clock } = services.runtime;
    const startedMs = clock.monotonic();
    const ended = () => Math.round(clock.monotonic() - startedMs);
    const charsMax = charsOfTokens(state.configuration.config.get('tool_output_token_limit'));
    const reader = new ResourceReader(servers, named, { charsMax, signal: host.signal });
    try {
      const output = reader.shown(await tool.read(reader, read));
      const result = {
        content: [{ type: 'text', text: output }],
        structuredContent: null,
        _meta: null,
      };
      return {
        output,
        success: true,
        item: { ...item, status: 'completed', result, durationMs: ended() },
      };
    } catch (error) {
      if (!(error instanceof McpError)) throw error;
      const output = error.message;
      return {
        output,
        success: false,
        item: { ...item, status: 'failed', error: { message: output }, durationMs: ended() },
      };
    }
  };
  return {
    // The model writes the URI, or the cursor. Nothing is sent to a server that does not exist.
    ...(named === null || (read.uri ?? read.cursor) === null
      ? RUNS
      : judgedAsCall(tool, given, { context, used: named, of })),
    item,
    perform,
    refused(denial) {
      const message = refusalText(denial);
      return {
        output: message,
        success: false,
        item: { ...item, status: 'failed', error: { message }, durationMs: 0 },
      };
    },
  };
}

const RUNS = { kind: 'other', judge: () => ({ run: UNCONFINED }) } as const;

/**
 * Policy, the safety check, the guardian and the user see a read as a call of a tool of the server
 * that only reads.
 */
function judgedAsCall(
  { name, description }: ResourceTool,
  args: JsonObject,
  { context, used, of }: { context: CallContext; used: ThreadServer; of: McpThread },
): Pick<Action, 'kind' | 'judge' | 'approval' | 'describe' | 'isShownFirst'> {
  const tool: McpTool = {
    name,
    title: null,
    description,
    inputSchema: {},
    raw: {},
    annotations: { readOnlyHint: true },
  };
  const call = new McpCallAction(
    { used, tool, context, settings: of.thread.state.configuration.mcp.settings, of },
    args,
  );
  return {
    kind: call.kind,
    isShownFirst: call.isShownFirst,
    judge: (settings, grants) => call.judge(settings, grants),
    approval: (permit, reason) => call.approval(permit, reason),
    describe: (permit) => call.describe(permit),
  };
}

function begun(
  id: string,
  { server, tool, args }: { server: string; tool: string; args: JsonObject },
): Extract<UntimedItem, { type: 'mcpToolCall' }> {
  return {
    type: 'mcpToolCall',
    id,
    server,
    tool,
    status: 'inProgress',
    arguments: args,
    mcpAppUi: null,
    appContext: null,
    pluginId: null,
    readOnlyHint: true,
    result: null,
    error: null,
    durationMs: null,
  };
}
