import type { TestServer } from '../support/test-server.ts';
import { until, withServers } from './mcp-thread.ts';

export type Thread = TestServer & { threadId: string };

/** A configuration with one server, web. */
export const web = (url: string, more = '') =>
  withServers(`[mcp_servers.web]\nurl = "${url}"\n${more}`);
/** The states of its starts. */
export const statuses = ({ client }: Thread) =>
  client.notifications('mcpServer/startupStatus/updated').map(({ status }) => status);
export const callWeb = ({ client, threadId }: Thread) =>
  client.request('mcpServer/tool/call', { threadId, server: 'web', tool: 'look' });

/** Acts as a browser. */
export async function browse(authorizationUrl: string): Promise<void> {
  const { headers } = await fetch(authorizationUrl, { redirect: 'manual' });
  await fetch(headers.get('location') ?? '');
}

/** Logs in as a user with a browser does. */
export async function logIn(server: Thread, more: object = {}) {
  const { client, threadId } = server;
  const { authorizationUrl, loginId } = await client.request('mcpServer/oauth/login', {
    name: 'web',
    threadId,
    ...more,
  });
  await browse(authorizationUrl);
  const completed = () => client.notifications('mcpServer/oauthLogin/completed');
  await until(server, 'the end of the login', () =>
    completed().some((each) => each.loginId === loginId),
  );
  return completed().at(-1);
}
