import type { FromHost, McpAnswer, McpQuestion, ToHost } from '../to-host.ts';
import { HostedClient } from './hosted-client.ts';
import { toProblem } from './to-problem.ts';

/** Takes the messages of the main thread. */
export interface McpHost {
  receive(message: ToHost): void;
}

/** Speaks with MCP servers: connects, sends requests, and passes on what the servers ask. */
export function createMcpHost(post: (message: FromHost) => void): McpHost {
  const clients = new Map<number, HostedClient>();
  const calls = new Map<number, AbortController>();
  const asks = new Map<number, (answer: McpAnswer) => void>();
  let askCount = 0;

  function ask(connection: number, call: number | null, question: McpQuestion, signal: AbortSignal): Promise<McpAnswer> {
    const id = ++askCount;
    return new Promise((resolve) => {
      const withdraw = () => {
        if (!asks.delete(id)) return;
        post({ type: 'withdrawn', ask: id });
        resolve({ error: { code: -32000, message: 'the question was withdrawn' } });
      };
      asks.set(id, (answer) => {
        asks.delete(id);
        signal.removeEventListener('abort', withdraw);
        resolve(answer);
      });
      signal.addEventListener('abort', withdraw);
      post({ type: 'ask', ask: id, connection, call, question });
    });
  }

  async function request({ connection, call, request }: Extract<ToHost, { type: 'request' }>): Promise<void> {
    const cancel = new AbortController();
    calls.set(call, cancel);
    try {
      const client = clients.get(connection);
      if (client === undefined) throw new Error('the server is not connected');
      post({ type: 'result', call, result: await client.request(call, request, cancel.signal) });
    } catch (error) {
      post({ type: 'failure', call, problem: toProblem(error) });
    } finally {
      calls.delete(call);
    }
  }

  function connect({ connection, server, clientVersion }: Extract<ToHost, { type: 'connect' }>): void {
    const client = new HostedClient({
      connection,
      server,
      clientVersion,
      post,
      ask: (call, question, signal) => ask(connection, call, question, signal),
    });
    clients.set(connection, client);
    void client.connect();
  }

  async function close(connection: number): Promise<void> {
    const client = clients.get(connection);
    clients.delete(connection);
    try {
      await client?.close();
    } catch (error) {
      post({ type: 'noticed', connection, message: `closing failed: ${toProblem(error).message}` });
    }
  }

  return {
    receive(message) {
      switch (message.type) {
        case 'connect':
          return connect(message);
        case 'input':
          return void clients.get(message.connection)?.receive(message.bytes);
        case 'inputEnded':
          return clients.get(message.connection)?.inputEnded();
        case 'request':
          return void request(message);
        case 'cancel':
          return calls.get(message.call)?.abort();
        case 'answer':
          return asks.get(message.ask)?.(message.answer);
        case 'rootsChanged':
          return void clients
            .get(message.connection)
            ?.rootsChanged()
            .catch(() => {});
        case 'close':
          return void close(message.connection);
        default:
          return message satisfies never;
      }
    },
  };
}
