import { createHash } from 'node:crypto';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** An MCP server over HTTP that wants a login, with its authorization server. */
export interface OauthServer {
  /** The address of the MCP server. */
  url: string;
  port: number;
  /** The requests to the authorization server, such as `token refresh_token`. */
  asked: string[];
  /** How long the next access tokens are valid, in seconds. */
  expiresIn: number;
  /** The access tokens that the MCP server takes. */
  valid: Set<string>;
  /** The refresh token that the authorization server takes. */
  refreshToken: string;
  /** The last request for tokens. */
  tokenRequest: Record<string, string>;
  /** Requests for tokens wait for it. */
  gate: Promise<void>;
  /** The next refusals of the MCP server wait for these. */
  refusalGates: Promise<void>[];
  /** The MCP server refuses new access tokens. */
  refusesNew: boolean;
  /** Calls of its tool fail, and it says with which token. */
  tellsToken: boolean;
  /** How long access tokens are. */
  tokenChars: number;
}

interface OauthServerOptions {
  /** With this certificate, under the name other.example; the port is `port`. */
  tls?: { cert: Buffer; key: Buffer };
  /** Answers in place of the servers: returns whether it did, or will. */
  instead?: (path: string, response: ServerResponse) => boolean;
  /** The resource that the MCP server names; by default its address. */
  resource?: string;
  /** More metadata of the authorization server. */
  metadata?: object;
}

/** Starts the two servers on one port of the loopback address, for the running test. */
export async function startOauthServer({
  tls,
  instead = () => false,
  ...told
}: OauthServerOptions = {}): Promise<OauthServer> {
  const state: OauthServer = {
    url: '',
    port: 0,
    asked: [],
    expiresIn: 3600,
    valid: new Set(),
    refreshToken: '',
    tokenRequest: {},
    gate: Promise.resolve(),
    refusalGates: [],
    refusesNew: false,
    tellsToken: false,
    tokenChars: 0,
  };
  const listener: RequestListener = (request, response) => {
    if (!instead(request.url ?? '', response)) void answerOauth(state, told, { request, response });
  };
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  state.port = (server.address() as AddressInfo).port;
  state.url =
    tls === undefined ? `http://127.0.0.1:${state.port}/mcp` : 'https://other.example/mcp';
  return state;
}

let challenge = '';
let count = 0;

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
}

async function answerOauth(
  state: OauthServer,
  { resource = state.url, metadata: more = {} }: Pick<OauthServerOptions, 'resource' | 'metadata'>,
  { request, response }: Exchange,
): Promise<void> {
  const { origin } = new URL(state.url);
  const { pathname, searchParams } = new URL(request.url ?? '', origin);
  const body = await textOf(request);
  const json = (value: unknown, status = 200) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  };
  if (pathname.startsWith('/.well-known/oauth-protected-resource'))
    return json({ resource, authorization_servers: [origin] });
  if (pathname.startsWith('/.well-known/oauth-authorization-server'))
    return json({ ...metadata(origin), ...more });
  if (pathname === '/register')
    return json({ ...(JSON.parse(body) as object), client_id: 'registered' }, 201);
  if (pathname === '/authorize') return authorize(state, searchParams, response);
  if (pathname === '/token') {
    const client = request.headers.authorization?.split(' ')[1] ?? '';
    state.tokenRequest = {
      ...Object.fromEntries(new URLSearchParams(body)),
      basic: Buffer.from(client, 'base64').toString(),
    };
    await state.gate;
    const tokens = token(state, new URLSearchParams(body));
    return json(tokens, 'error' in tokens ? 400 : 200);
  }
  if (pathname !== '/mcp') return json({ error: 'not_found' }, 404);
  const [, access = ''] = (request.headers.authorization ?? '').split(' ');
  if (state.valid.has(access))
    return serve(request.method ?? '', {
      body,
      response,
      problem: state.tellsToken ? `it ends with ${access}` : null,
    });
  await state.refusalGates.shift();
  const where = `${origin}/.well-known/oauth-protected-resource/mcp`;
  response
    .writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${where}", scope="read"` })
    .end();
}

function authorize(state: OauthServer, params: URLSearchParams, response: ServerResponse): void {
  state.asked.push(`authorize ${params.get('scope') ?? '-'}`);
  challenge = params.get('code_challenge') ?? '';
  const back = new URL(params.get('redirect_uri') ?? '');
  back.search = new URLSearchParams({
    code: 'the-code',
    state: params.get('state') ?? '',
  }).toString();
  response.writeHead(302, { location: back.href }).end();
}

function serve(
  httpMethod: string,
  { body, response, problem }: { body: string; response: ServerResponse; problem: string | null },
): void {
  const { id, method } =
    httpMethod === 'POST' ? (JSON.parse(body) as { id?: number; method: string }) : { method: '' };
  if (id === undefined) {
    response.writeHead(httpMethod === 'POST' ? 202 : 405).end();
    return;
  }
  const result = results[method];
  if (method === 'tools/call' && problem !== null) {
    const error = { code: -32000, message: problem };
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id, error }));
    return;
  }
  const answered =
    result === undefined ? { error: { code: -32601, message: `no ${method}` } } : { result };
  response
    .writeHead(200, { 'content-type': 'application/json' })
    .end(JSON.stringify({ jsonrpc: '2.0', id, ...answered }));
}

function metadata(origin: string) {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
  };
}

function token(state: OauthServer, params: URLSearchParams): object {
  const grant = params.get('grant_type') ?? '';
  state.asked.push(`token ${grant}`);
  const verifier = createHash('sha256')
    .update(params.get('code_verifier') ?? '')
    .digest('base64url');
  if (grant === 'authorization_code' && verifier !== challenge) return { error: 'invalid_grant' };
  if (grant === 'refresh_token' && params.get('refresh_token') !== state.refreshToken)
    return { error: 'invalid_grant' };
  const access = `access-token-${++count}`.padEnd(state.tokenChars, 'x');
  if (!state.refusesNew) state.valid.add(access);
  state.refreshToken = `refresh-token-${count}`;
  return {
    access_token: access,
    token_type: 'Bearer',
    expires_in: state.expiresIn,
    refresh_token: state.refreshToken,
  };
}

const results: Record<string, object> = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'secured', version: '1' },
  },
  'tools/list': {
    tools: [{ name: 'look', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }],
  },
  'tools/call': { content: [{ type: 'text', text: 'seen' }] },
};

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of request) text += String(part);
  return text;
}
