import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** Answers a request of a client. `id`: that of the JSON-RPC request. */
type Answer = (response: ServerResponse, id: number, request: IncomingMessage) => void;

const RESULTS: Record<string, object> = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'web', version: '1' },
  },
  'tools/list': {
    tools: [{ name: 'look', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }],
  },
  'tools/call': { content: [{ type: 'text', text: 'seen' }] },
};

/**
 * Starts an MCP server over HTTP for the running test. `answers`: by the method of JSON-RPC, or of
 * HTTP. Returns its address.
 */
export async function startWebServer(answers: Record<string, Answer> = {}): Promise<string> {
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let text = '';
    for await (const part of request) text += String(part);
    const { id = 0, method = request.method ?? '' } =
      text === '' ? {} : (JSON.parse(text) as { id?: number; method?: string });
    const answer = answers[method];
    if (answer !== undefined) return answer(response, id, request);
    if (id === 0 && request.method === 'POST' && method !== 'initialize')
      return void response.writeHead(202).end();
    if (request.method !== 'POST') return void response.writeHead(405).end();
    respond(response, id, RESULTS[method]);
  };
  const server = createServer((request, response) => void serve(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

/** Sends a result, or an error if there is none. */
export function respond(
  response: ServerResponse,
  id: number,
  result: object | undefined,
  headers: Record<string, string> = {},
): void {
  const answered =
    result === undefined
      ? { error: { code: -32601, message: 'there is no such method' } }
      : { result };
  response
    .writeHead(200, { 'content-type': 'application/json', ...headers })
    .end(JSON.stringify({ jsonrpc: '2.0', id, ...answered }));
}

/** The usual result of a method. */
export const resultOf = (method: string): object | undefined => RESULTS[method];
