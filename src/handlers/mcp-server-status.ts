import { McpTools } from '../agent/mcp/mcp-tools.ts';
import type { Threads } from '../agent/threads.ts';
import { isObject, type JsonObject, type JsonValue } from '../base/json-value.ts';
import type { Config } from '../config/config.ts';
import { isToolEnabled, type McpServerConfig } from '../config/mcp/mcp-server-config.ts';
import { type McpSettings, mcpSettings } from '../config/mcp/mcp-settings.ts';
import { McpError } from '../mcp/mcp-error.ts';
import type { McpServer } from '../mcp/mcp-server.ts';
import type { McpServers } from '../mcp/mcp-servers.ts';
import type { McpUser } from '../mcp/mcp-user.ts';
import type { CredentialStore } from '../mcp/oauth/credential-store.ts';
import type { ListMcpServerStatusParams, McpServerStatus } from '../protocol/generated/types.ts';
import { pageByPosition } from './list-page.ts';
import type { MethodTable } from './method.ts';

export interface McpStatusDeps {
  threads: Threads;
  mcp: McpServers;
  credentials: CredentialStore;
  /** The server's working directory. */
  cwd: string;
  config: (cwd?: string | null) => Promise<Config>;
}

export function mcpServerStatusMethods(deps: McpStatusDeps) {
  return {
    'mcpServerStatus/list': {
      queue: null,
      async handle(params, { caller }) {
        const { settings, root, showsState } = await subject(deps, params);
        const names = [...settings.servers.map(({ name }) => name), ...settings.problems.map(({ name }) => name)].sort();
        const listed = names.filter((name) => params.serverName == null || name === params.serverName);
        const page = pageByPosition(listed, { cursor: params.cursor, limit: params.limit });
        const full = params.detail !== 'toolsAndAuthOnly';
        const data = await Promise.all(
          page.data.map(async (name) => {
            const config = settings.servers.find((server) => server.name === name);
            if (config === undefined) return unusable(name, settings);
            return statusOf(config, { deps, root, full, showsState, signal: caller.gone });
          }),
        );
        return { ...page, data };
      },
    },
  } satisfies Partial<MethodTable>;
}

/** The settings that the request is about, and the folder in which servers run. */
async function subject({ threads, config, cwd }: McpStatusDeps, { threadId }: ListMcpServerStatusParams) {
  if (threadId == null) return { settings: mcpSettings(await config()), root: cwd, showsState: false };
  const thread = threads.require(threadId);
  return { settings: thread.part(McpTools).settings, root: thread.record.settings.cwd, showsState: true };
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

interface StatusOptions {
  deps: McpStatusDeps;
  root: string;
  full: boolean;
  showsState: boolean;
  signal: AbortSignal;
}

/** Starts the server if it does not run, and waits until it has started or failed. */
async function statusOf(config: McpServerConfig, { deps, root, full, showsState, signal }: StatusOptions): Promise<McpServerStatus> {
  const { name, transport } = config;
  const httpOrigin = transport.type === 'http' ? new URL(transport.url).origin : null;
  if (!config.enabled) {
    return {
      ...blank(name),
      httpOrigin,
      runtimeStatus: showsState ? 'disabled' : null,
      authStatus: authStatusOf(config, null, deps.credentials),
    };
  }
  const user: McpUser = { root, onState: () => {}, onQuestion: async () => ({ error: { code: -32600, message: 'nobody can be asked' } }) };
  const { server, release } = deps.mcp.use(config, user);
  try {
    await server.settled(signal);
    const enabled = server.tools.filter((tool) => isToolEnabled(config, tool.name));
    const read = (op: 'listResources' | 'listResourceTemplates', key: string) =>
      full ? listOf(server, { op, key, signal, user, timeoutMs: config.toolTimeoutMs }) : [];
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
      tools: Object.fromEntries(enabled.map((tool) => [tool.name, tool.raw])) as unknown as McpServerStatus['tools'],
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
  if (transport.bearerToken !== null) return 'bearerToken';
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
  user: McpUser;
  timeoutMs: number;
}

/** Empty if the server cannot list them. */
async function listOf(server: McpServer, { op, key, signal, user, timeoutMs }: ListOptions): Promise<JsonObject[]> {
  if (server.state.status !== 'ready') return [];
  try {
    const page = await server.request({ op, cursor: null }, { signal, user, timeoutMs });
    return isObject(page) && Array.isArray(page[key]) ? (page[key] as unknown[]).filter((each): each is JsonObject => isObject(each)) : [];
  } catch (error) {
    if (error instanceof McpError) return [];
    throw error;
  }
}
