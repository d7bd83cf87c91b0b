import {
  hasOwnAuthorization,
  type McpHttp,
  type McpServerConfig,
} from '../../config/mcp/mcp-server-config.ts';
import { type McpSettings, mcpSettings } from '../../config/mcp/mcp-settings.ts';
import { refused } from '../../protocol/rpc-error.ts';
import type { McpMethodServices } from '../mcp-server-status/list.ts';
import { type MethodTable, unqueued } from '../requested/method.ts';

export function oauthMethods(deps: McpMethodServices) {
  return {
    'mcpServer/oauth/login': {
      order: unqueued,
      async handle({ name, threadId, scopes, timeoutSecs, clientRegistration }, { after }) {
        const settings = await settingsOf(deps, threadId);
        const config = httpServer(settings, name);
        const registration = clientRegistration ?? 'auto';
        if (registration === 'cimd' && config.transport.oauth.clientMetadataUrl === null) {
          throw refused(
            'mcp_login_refused',
            `clientRegistration "cimd" needs the URL of a document that describes the client: set mcp_servers.${name}.oauth.client_metadata_url`,
          );
        }
        if (registration !== 'auto' && config.transport.oauth.clientId !== null) {
          throw refused(
            'mcp_login_refused',
            `clientRegistration "${registration}" is not possible: mcp_servers.${name}.oauth.client_id names a client that is registered already`,
          );
        }
        const { loginId, authorizationUrl, ended } = await deps.logins.begin({
          config,
          callback: settings.callback,
          scopes: scopes ?? null,
          timeoutMs: timeoutSecs == null ? null : Math.max(1, timeoutSecs) * 1000,
          registration,
        });
        after(() => {
          void ended.then((error) => {
            const params = {
              name,
              success: error === null,
              error,
              loginId,
              threadId: threadId ?? null,
            };
            deps.clients.publish('everyone', 'mcpServer/oauthLogin/completed', params);
          });
        });
        return { authorizationUrl, loginId };
      },
    },
    'mcpServer/oauth/logout': {
      order: unqueued,
      async handle({ name, threadId }) {
        const { transport, ...config } = httpServer(await settingsOf(deps, threadId), name);
        const wasLoggedIn = await deps.credentials.remove({
          name: config.name,
          url: transport.url,
        });
        return { wasLoggedIn };
      },
    },
  } satisfies Partial<MethodTable>;
}

async function settingsOf(
  { threads, config }: McpMethodServices,
  threadId: string | null | undefined,
): Promise<McpSettings> {
  return threadId == null
    ? mcpSettings(await config())
    : threads.require(threadId).configuration.mcp.settings;
}

function httpServer(
  { servers, problems }: McpSettings,
  name: string,
): McpServerConfig & { transport: McpHttp } {
  const problem = problems.find((each) => each.name === name);
  if (problem !== undefined) throw refused('mcp_login_refused', problem.error.message);
  const config = servers.find((each) => each.name === name);
  if (config === undefined) {
    const known = [...servers, ...problems].map((each) => each.name);
    throw refused(
      'mcp_server_not_found',
      `No MCP server named '${name}' found. The servers are: ${known.join(', ') || 'none'}`,
    );
  }
  const { transport } = config;
  if (transport.type === 'stdio')
    throw refused(
      'mcp_login_refused',
      'OAuth login is only supported for streamable HTTP servers.',
    );
  if (transport.bearerTokenVariable !== null)
    throw refused(
      'mcp_login_refused',
      `the MCP server ${name} gets its token from ${transport.bearerTokenVariable}: it needs no login`,
    );
  if (hasOwnAuthorization(transport))
    throw refused(
      'mcp_login_refused',
      `the MCP server ${name} has an Authorization header in the configuration: it needs no login`,
    );
  return { ...config, transport };
}
