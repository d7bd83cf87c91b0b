import type { ClientChannel } from '../../agent/client-channel.ts';
import { McpTools } from '../../agent/mcp/mcp-tools.ts';
import type { Threads } from '../../agent/threads/threads.ts';
import { isObject, type JsonObject, type JsonValue } from '../../base/json-value.ts';
import type { Config } from '../../config/config.ts';
import {
  hasOwnAuthorization,
  isToolEnabled,
  type McpServerConfig,
} from '../../config/mcp/mcp-server-config.ts';
import { type McpSettings, mcpSettings } from '../../config/mcp/mcp-settings.ts';
import type { McpLogins } from '../../mcp/mcp-logins.ts';
import type { McpServer } from '../../mcp/mcp-server.ts';
import type { McpLease, McpServers } from '../../mcp/mcp-servers.ts';
import { unattended } from '../../mcp/mcp-user.ts';
import { McpError } from '../../mcp/messages/mcp-error.ts';
import type { CredentialStore } from '../../mcp/oauth/credential-store.ts';
import type { ListMcpServerStatusParams, McpServerStatus } from '../../protocol/generated/types.ts';
import { pageByPosition } from '../requested/list-page.ts';
import { type MethodTable, unqueued } from '../requested/method.ts';

/** The services of the methods about MCP servers. */
export interface McpMethodServices {
  threads: Threads;
  clients: ClientChannel;
  mcp: McpServers;
  logins: McpLogins;
  credentials: CredentialStore;
  /** The server's working directory. */
  cwd: string;
  config: (cwd?: string | null) => Promise<Config>;
}

export function mcpServerStatusMethods(deps: McpMethodServices) {
  return {
    'mcpServerStatus/list': {
      order: unqueued,
      async handle(params, { caller }) {
        const { settings, lease, showsState } = await subject(deps, params);
        const names = [
          ...settings.servers.map(({ name }) => name),
          ...settings.problems.map(({ name }) => name),
        ].sort();
        const listed = names.filter(
          (name) => params.serverName == null || name === params.serverName,
        );
        const page = pageByPosition(listed, { cursor: params.cursor, limit: params.limit });
        const full = params.detail !== 'toolsAndAuthOnly';
        const data = await Promise.all(
          page.data.map(async (name) => {
            const config = settings.servers.find((server) => server.name === name);
            if (config === undefined) return unusable(name, settings);
            return statusOf(config, { deps, lease, full, showsState, signal: caller.gone });
          }),
        );
        return { ...page, data };
      },
    },
  } satisfies Partial<MethodTable>;
}

interface Subject {
  settings: McpSettings;
  /** The server of a configuration, and how to release it. Null: it is not in use. */
  lease(config: McpServerConfig): McpLease | null;
  showsState: boolean;
}

/**
 * The servers that the request is about: those that the thread uses, or those of the configuration,
 * which are started for it.
 */
async function subject(
  { threads, config, cwd, mcp }: McpMethodServices,
  { threadId }: ListMcpServerStatusParams,
): Promise<Subject> {
  if (threadId == null) {
    return {
      settings: mcpSettings(await config()),
      lease: (server) => mcp.use(server, unattended(cwd)),
      showsState: false,
    };
  }
  const part = threads.require(threadId).part(McpTools);
  part.start();
  const lease = ({ name }: McpServerConfig) => {
    const used = part.servers.find(name);
    return used && { server: used.server, release: () => {} };
  };
  return { settings: part.settings, lease, showsState: true };
}

function unusable(name: string, { problems }: McpSettings): McpServerStatus {
  const error = problems.find((problem) => problem.name === name)?.error.message ?? null;
  return { ...blank(name), runtimeStatus: 'failed', toolsError: error, authStatus: 'unknown' };
}

function blank(name: string): Omit<McpServerStatus, 'runtimeStatus' | 'authStatus'> {
  return {
    name,
    pluginId: null,
    httpOrigin: null,
    serverInfo: null,
    serverCapabilities: null,
    toolListMeta: null,
    tools: {},
    toolsError: null,
    resources: [],
    resourceTemplates: [],
  };
}

interface StatusOptions extends Pick<Subject, 'lease' | 'showsState'> {
  deps: McpMethodServices;
  full: boolean;
  signal: AbortSignal;
}

/** Waits until the server has started or failed. */
async function statusOf(
  config: McpServerConfig,
  { deps, lease, full, showsState, signal }: StatusOptions,
): Promise<McpServerStatus> {
  const { name, transport, enabled } = config;
  const httpOrigin = transport.type === 'http' ? new URL(transport.url).origin : null;
  const leased = enabled ? lease(config) : null;
  if (leased === null) {
    return {
      ...blank(name),
      httpOrigin,
      runtimeStatus: showsState ? (enabled ? 'notStarted' : 'disabled') : null,
      authStatus: authStatusOf(config, null, deps.credentials),
    };
  }
  const { server, release } = leased;
  try {
    await server.settled(signal);
    const tools = server.tools.filter((tool) => isToolEnabled(config, tool.name));
    const read = (op: 'listResources' | 'listResourceTemplates', key: string) =>
      full ? listOf(server, { op, key, signal, timeoutMs: config.toolTimeoutMs }) : [];
    const [resources, resourceTemplates] = await Promise.all([
      read('listResources', 'resources'),
      read('listResourceTemplates', 'resourceTemplates'),
    ]);
    return {
      ...blank(name),
      httpOrigin,
      runtimeStatus: showsState ? runtimeStatus(server) : null,
      serverInfo: serverInfo(server),
      serverCapabilities: server.connected?.capabilities ?? null,
      tools: Object.fromEntries(
        tools.map((tool) => [tool.name, tool.raw]),
      ) as unknown as McpServerStatus['tools'],
      toolsError: server.state.status === 'failed' ? server.state.error : null,
      resources: resources as McpServerStatus['resources'],
      resourceTemplates: resourceTemplates as McpServerStatus['resourceTemplates'],
      authStatus: authStatusOf(config, server, deps.credentials),
    };
  } finally {
    release();
  }
}

function runtimeStatus({ state }: McpServer): McpServerStatus['runtimeStatus'] {
  switch (state.status) {
    case 'starting':
      return 'starting';
    case 'ready':
      return 'connected';
    case 'failed':
      return state.needsLogin ? 'authenticationRequired' : 'failed';
    case 'stopped':
      return 'notStarted';
    default:
      return state satisfies never;
  }
}

function authStatusOf(
  { name, transport }: McpServerConfig,
  server: McpServer | null,
  credentials: CredentialStore,
): McpServerStatus['authStatus'] {
  if (transport.type === 'stdio') return 'unsupported';
  if (transport.bearerToken !== null || hasOwnAuthorization(transport)) return 'bearerToken';
  if (server?.state.status === 'failed' && server.state.needsLogin) return 'notLoggedIn';
  if (credentials.hasLogin({ name, url: transport.url })) return 'oAuth';
  return server?.state.status === 'failed' ? 'unknown' : 'unsupported';
}

function serverInfo({ connected }: McpServer): McpServerStatus['serverInfo'] {
  const info = connected?.info ?? null;
  if (info === null) return null;
  const text = (value: JsonValue | undefined) => (typeof value === 'string' ? value : null);
  return {
    name: String(info.name ?? ''),
    version: String(info.version ?? ''),
    title: text(info.title),
    description: text(info.description),
    icons: Array.isArray(info.icons) ? info.icons : null,
    websiteUrl: text(info.websiteUrl),
  };
}

interface ListOptions {
  op: 'listResources' | 'listResourceTemplates';
  key: string;
  signal: AbortSignal;
  timeoutMs: number;
}

/** Empty if the server cannot list them. */
async function listOf(
  server: McpServer,
  { op, key, signal, timeoutMs }: ListOptions,
): Promise<JsonObject[]> {
  if (server.state.status !== 'ready') return [];
  try {
    const page = await server.request({ op, cursor: null }, { signal, timeoutMs, user: null });
    return isObject(page) && Array.isArray(page[key])
      ? (page[key] as unknown[]).filter((each): each is JsonObject => isObject(each))
      : [];
  } catch (error) {
    if (error instanceof McpError) return [];
    throw error;
  }
}
