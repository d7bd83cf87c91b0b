import { isObject, type JsonObject, type JsonValue } from '../../base/json-value.ts';
import { cutText } from '../../base/text/cut-text.ts';
import { McpError } from '../../mcp/mcp-error.ts';
import type { CutResult, McpRequest, McpTool } from '../../mcp/to-host.ts';
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
import { CHARS_PER_TOKEN } from '../prompt/item-size.ts';
import type { TurnPartDeps } from '../turn/turn-part-deps.ts';
import { McpCallAction } from './mcp-call-action.ts';
import type { ThreadServer, ThreadServers } from './thread-servers.ts';

/** The server that an item names if the call is about all of them. */
const ALL_SERVERS = 'heddle';

interface ReadArguments {
  server: string | null;
  cursor: string | null;
  uri: string | null;
}

interface ResourceTool {
  name: 'list_mcp_resources' | 'list_mcp_resource_templates' | 'read_mcp_resource';
  description: string;
  properties: JsonObject;
  required: string[];
  read(args: ReadArguments, reader: Reader): Promise<JsonValue>;
}

type ResourceRequest = Extract<
  McpRequest,
  { op: 'listResources' | 'listResourceTemplates' | 'readResource' }
>;

interface Reader {
  servers: ThreadServers;
  /**
   * The server that the call names, as it was when the call was judged; null: it names none, or
   * there was none of this name.
   */
  named: ThreadServer | null;
  /** Asks one server. Rejects with an McpError. */
  ask(server: ThreadServer, request: ResourceRequest): Promise<JsonValue>;
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
    read: (args, reader) => list(args, reader, { op: 'listResources', key: 'resources' }),
  },
  {
    name: 'list_mcp_resource_templates',
    description:
      'Lists the resource templates that MCP servers offer: fill in the parameters of their URIs, and read the resource.',
    properties: { server: SERVER, cursor: CURSOR },
    required: [],
    read: (args, reader) =>
      list(args, reader, { op: 'listResourceTemplates', key: 'resourceTemplates' }),
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
    read: readResource,
  },
];

/** The tools that read the resources of the thread's servers. */
export function resourceTools(servers: ThreadServers, deps: TurnPartDeps): Tool[] {
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
    prepare: async (args, context) => prepare(tool, args, { context, servers, deps }),
  }));
}

function prepare(
  tool: ResourceTool,
  args: JsonValue,
  { context, servers, deps }: { context: CallContext; servers: ThreadServers; deps: TurnPartDeps },
): Action | ActionOutcome {
  const given = isObject(args) ? (args as JsonObject) : {};
  const text = (key: string) =>
    typeof given[key] === 'string' && given[key] !== '' ? given[key] : null;
  const read: ReadArguments = { server: text('server'), cursor: text('cursor'), uri: text('uri') };
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
    const startedMs = deps.clock.monotonic();
    const ended = () => Math.round(deps.clock.monotonic() - startedMs);
    const charsMax = deps.configuration().config.get('tool_output_token_limit') * CHARS_PER_TOKEN;
    let isCut = false;
    const ask: Reader['ask'] = async ({ server, config, user }, request) => {
      const options = { timeoutMs: config.toolTimeoutMs, signal: host.signal, user };
      const cut = (await server.request({ ...request, charsMax }, options)) as unknown as CutResult;
      isCut ||= cut.isCut;
      return cut.value;
    };
    try {
      const text = JSON.stringify(await tool.read(read, { servers, named, ask }));
      isCut ||= text.length > charsMax;
      const output = isCut
        ? `${cutText(text, charsMax)}\n[… The rest was left out: it is too long.]`
        : text;
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
      : judgedAsCall(tool, given, { context, used: named, deps })),
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
  { context, used, deps }: { context: CallContext; used: ThreadServer; deps: TurnPartDeps },
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
    { used, tool, context, settings: deps.configuration().mcp.settings, deps },
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

async function list(
  { server, cursor }: ReadArguments,
  { servers, named: used, ask }: Reader,
  {
    op,
    key,
  }: { op: 'listResources' | 'listResourceTemplates'; key: 'resources' | 'resourceTemplates' },
): Promise<JsonValue> {
  if (server !== null) {
    const page = await ask(required(used, { name: server, servers }), { op, cursor });
    const { nextCursor } = isObject(page) ? page : {};
    return {
      server,
      [key]: named(page, key, server),
      ...(typeof nextCursor === 'string' ? { nextCursor } : {}),
    };
  }
  if (cursor !== null)
    throw new McpError('other', 'A cursor belongs to one server: name it with `server`.');
  // The others need not wait for one that is started again and again.
  const asked = servers.all.filter((each) => !each.server.hasFailed);
  const all = await Promise.all(
    asked.map(async (each) => {
      try {
        return named(await ask(each, { op, cursor: null }), key, each.config.name);
      } catch (error) {
        // One server that cannot answer does not hide the others.
        if (error instanceof McpError && error.kind !== 'cancelled') return [];
        throw error;
      }
    }),
  );
  return { [key]: all.flat() };
}

function named(page: JsonValue, key: string, server: string): JsonObject[] {
  const entries = isObject(page) && Array.isArray(page[key]) ? (page[key] as unknown[]) : [];
  return entries.filter(isObject).map((entry) => ({ server, ...(entry as JsonObject) }));
}

async function readResource(
  { server, uri }: ReadArguments,
  { servers, named: used, ask }: Reader,
): Promise<JsonValue> {
  const result = await ask(required(used, { name: server ?? '', servers }), {
    op: 'readResource',
    uri: uri ?? '',
    meta: null,
  });
  const contents =
    isObject(result) && Array.isArray(result.contents) ? (result.contents as JsonValue[]) : [];
  return { server, uri, contents };
}

function required(
  found: ThreadServer | null,
  { name, servers }: { name: string; servers: ThreadServers },
): ThreadServer {
  if (found !== null) return found;
  const names = servers.all.map(({ config }) => config.name);
  throw new McpError(
    'other',
    `unknown MCP server '${name}'. The servers are: ${names.join(', ') || 'none'}.`,
  );
}
