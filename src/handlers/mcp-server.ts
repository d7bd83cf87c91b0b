import type { AskingCall } from '../agent/mcp/answer-question.ts';
import { McpTools } from '../agent/mcp/mcp-tools.ts';
import type { LoadedThread } from '../agent/threads/loaded-thread.ts';
import { isObject, type JsonObject, type JsonValue } from '../base/json-value.ts';
import { mcpSettings } from '../config/mcp/mcp-settings.ts';
import type { McpServer } from '../mcp/mcp-server.ts';
import { type McpUser, unattended } from '../mcp/mcp-user.ts';
import { McpError } from '../mcp/messages/mcp-error.ts';
import type { McpRequest } from '../mcp/messages/mcp-host.ts';
import { mcpRequestFailed, unknownMcpServer } from '../protocol/errors/mcp-errors.ts';
import type {
  McpResourceReadResponse,
  McpServerToolCallResponse,
} from '../protocol/generated/types.ts';
import { invalidParams } from '../protocol/rpc-error.ts';
import type { AskClients } from '../tools/action.ts';
import type { McpMethodServices } from './mcp-server-status/list.ts';
import { type MethodTable, unqueued } from './requested/method.ts';

export function mcpServerMethods(deps: McpMethodServices) {
  return {
    'mcpServer/tool/call': {
      order: unqueued,
      async handle({ threadId, server, tool, arguments: args, _meta }, { caller }) {
        const request: McpRequest = {
          op: 'callTool',
          name: tool,
          arguments: objectOf(args, 'arguments') ?? {},
          meta: { ...objectOf(_meta, '_meta'), threadId },
        };
        const result = await requestOfThread(deps, {
          threadId,
          server,
          request,
          signal: caller.gone,
        });
        const { content, structuredContent, isError, _meta: meta } = isObject(result) ? result : {};
        return {
          content: Array.isArray(content) ? content : [],
          ...(structuredContent === undefined ? {} : { structuredContent }),
          ...(isError === undefined ? {} : { isError: isError === true }),
          ...(meta === undefined ? {} : { _meta: meta }),
        } as McpServerToolCallResponse;
      },
    },
    'mcpServer/resource/read': {
      order: unqueued,
      async handle({ threadId, server, uri, _meta, originCallId }, { caller }) {
        if (originCallId != null && threadId == null)
          throw invalidParams('params.originCallId requires threadId');
        const request: McpRequest = { op: 'readResource', uri, meta: objectOf(_meta, '_meta') };
        const options = { server, request, signal: caller.gone };
        const result = await (threadId == null
          ? requestOfConfig(deps, options)
          : requestOfThread(deps, { ...options, threadId }));
        const contents = isObject(result) && Array.isArray(result.contents) ? result.contents : [];
        return { contents, originCallId: originCallId ?? null } as McpResourceReadResponse;
      },
    },
  } satisfies Partial<MethodTable>;
}

function objectOf(value: unknown, field: string): JsonObject | null {
  if (value === undefined || value === null) return null;
  if (!isObject(value)) throw invalidParams(`params.${field}: expected an object`);
  return value as JsonObject;
}

interface ServerRequest {
  server: string;
  request: McpRequest;
  signal: AbortSignal;
}

async function requestOfThread(
  { threads }: McpMethodServices,
  { threadId, server: name, ...sent }: ServerRequest & { threadId: string },
) {
  const thread = threads.require(threadId);
  const part = thread.part(McpTools);
  part.start();
  const found = part.servers.find(name);
  if (found === null) {
    throw unknownMcpServer(
      name,
      part.servers.all.map(({ config }) => config.name),
    );
  }
  const tag = askingClient(thread, name, sent.signal);
  return answered(found.server, {
    ...sent,
    user: found.user,
    tag,
    timeoutMs: found.config.toolTimeoutMs,
  });
}

/**
 * A call that a client makes outside of any turn: the server's questions go to the clients of the
 * thread.
 */
function askingClient(
  { id, settings, questions }: LoadedThread,
  server: string,
  signal: AbortSignal,
): AskingCall {
  const askUser: AskClients = (request, withdrawn) => {
    const until = withdrawn === undefined ? signal : AbortSignal.any([signal, withdrawn]);
    return questions.whileWaiting('waitingOnUserInput', () => questions.ask(request, until));
  };
  return {
    threadId: id,
    turnId: null,
    itemId: '',
    server,
    settings,
    // No turn has used the tokens.
    host: {
      askUser,
      requestMore: (ask) => ask.askPerson(askUser),
      countTokens: async () => {},
      signal,
    },
  };
}

async function requestOfConfig(
  { mcp, config, cwd }: McpMethodServices,
  { server: name, ...sent }: ServerRequest,
) {
  const { servers } = mcpSettings(await config());
  const enabled = servers.filter((server) => server.enabled);
  const found = enabled.find((server) => server.name === name);
  if (found === undefined) {
    throw unknownMcpServer(
      name,
      enabled.map((server) => server.name),
    );
  }
  const user = unattended(cwd);
  const { server, release } = mcp.use(found, user);
  try {
    return await answered(server, { ...sent, user, timeoutMs: found.toolTimeoutMs });
  } finally {
    release();
  }
}

interface Sent {
  request: McpRequest;
  signal: AbortSignal;
  user: McpUser;
  tag?: AskingCall;
  timeoutMs: number;
}

/** The answer of the server. Throws an RpcError with the server's own error. */
async function answered(server: McpServer, { request, ...options }: Sent): Promise<JsonValue> {
  try {
    return await server.request(request, options);
  } catch (error) {
    if (error instanceof McpError) throw mcpRequestFailed(error.code, error.message);
    throw error;
  }
}
