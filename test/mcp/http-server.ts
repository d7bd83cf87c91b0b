import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/**
 * An MCP server over HTTP with sessions. Its only tool, `look`, answers with the argument `what`.
 */
export class HttpServer {
  url = '';
  /** The arguments of the calls that it has made. */
  readonly made: unknown[] = [];
  /** The status of its next answers to calls, if it is not 200. */
  refusal: number | null = null;
  /** The description of its tool. */
  description = 'Looks.';
  /** Answers to calls in a session that it has forgotten wait for this, by their argument. */
  readonly held = new Map<string, Promise<void>>();
  #session = 1;
  #onSession: () => void = () => {};

  /** Starts it on the loopback address, for the running test. */
  static async start(): Promise<HttpServer> {
    const own = new HttpServer();
    const server = createServer((request, response) => void own.#answer(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    own.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
    return own;
  }

  /** Forgets its session. Resolves when a client is ready in a new one. */
  forget(): Promise<void> {
    this.#session++;
    return new Promise((resolve) => {
      this.#onSession = resolve;
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    if (request.method !== 'POST') {
      response.writeHead(request.method === 'DELETE' ? 200 : 405).end();
      return;
    }
    const call = JSON.parse(Buffer.concat(parts).toString()) as Call;
    const what = call.params?.arguments?.what ?? '';
    const isKnown =
      call.method === 'initialize' || request.headers['mcp-session-id'] === `s${this.#session}`;
    const status = isKnown ? this.#statusOf(call) : 404;
    if (!isKnown) await this.held.get(what);
    response.writeHead(status, {
      'content-type': 'application/json',
      'mcp-session-id': `s${this.#session}`,
    });
    response.end(status === 200 ? this.#made(call, what) : '');
    if (isKnown && call.method === 'tools/list') this.#onSession();
  }

  #statusOf({ id, method }: Call): number {
    if (id === undefined) return 202;
    return method === 'tools/call' ? (this.refusal ?? 200) : 200;
  }

  #made({ id, method }: Call, what: string): string {
    if (method === 'tools/call') this.made.push(what);
    const result = resultOf(method, { what, description: this.description });
    const answered =
      result === null ? { error: { code: -32601, message: `no ${method}` } } : { result };
    return JSON.stringify({ jsonrpc: '2.0', id, ...answered });
  }
}

interface Call {
  id?: number;
  method: string;
  params?: { arguments?: { what?: string } };
}

function resultOf(
  method: string,
  { what, description }: { what: string; description: string },
): object | null {
  if (method === 'initialize')
    return {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'web', version: '1' },
    };
  if (method === 'tools/list')
    return {
      tools: [
        {
          name: 'look',
          description,
          inputSchema: { type: 'object' },
          annotations: { readOnlyHint: true },
        },
      ],
    };
  return method === 'tools/call' ? { content: [{ type: 'text', text: `seen: ${what}` }] } : null;
}
