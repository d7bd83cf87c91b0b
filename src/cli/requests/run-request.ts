import type { Client } from '../../client/client.ts';
import { spawnServer } from '../../client/spawn-server.ts';
import { deleteThread } from './delete-thread.ts';
import { listMcpServers } from './list-mcp-servers.ts';
import { listModels } from './list-models.ts';
import { listThreads } from './list-threads.ts';
import { logInToMcp } from './log-in-to-mcp.ts';
import { logOutOfMcp } from './log-out-of-mcp.ts';
import { printThread } from './print-thread.ts';
import type { RequestTerminal } from './request-terminal.ts';

/** A command that asks a server. */
export type Request =
  | { kind: 'models'; json: boolean }
  | { kind: 'threads'; searchTerm: string | null; json: boolean }
  | { kind: 'thread'; threadId: string; format: 'jsonl' | 'markdown' }
  | { kind: 'deleteThread'; threadId: string; yes: boolean }
  | { kind: 'mcpServers'; json: boolean }
  | { kind: 'mcpLogin' | 'mcpLogout'; name: string };

interface ServerOptions {
  /** The command line of the server: Node, and heddle's executable. */
  server: [command: string, script: string];
  /** Settings that override config.toml, as `key=value` strings. */
  overrides: readonly string[];
  version: string;
  userHome: string | null;
}

/**
 * Starts a server, makes the request and prints the result. Returns whether it succeeded. Rejects
 * with an Error for a person.
 */
export async function runRequest(
  request: Request,
  options: ServerOptions,
  terminal: RequestTerminal,
): Promise<boolean> {
  const { server, overrides, version, userHome } = options;
  const [command, script] = server;
  const settings = overrides.map((override) => `--config=${override}`);
  const client = spawnServer({ command, args: [script, 'app-server', ...settings] });
  try {
    const capabilities = { experimentalApi: true };
    await client.initialize({ clientInfo: { name: 'heddle-cli', version }, capabilities });
    return await perform(client, request, { terminal, userHome });
  } finally {
    await client.close();
  }
}

function perform(
  client: Client,
  request: Request,
  { terminal, userHome }: { terminal: RequestTerminal; userHome: string | null },
): Promise<boolean> {
  switch (request.kind) {
    case 'models':
      return listModels(client, request, terminal);
    case 'threads':
      return listThreads(client, { ...request, userHome }, terminal);
    case 'thread':
      return printThread(client, request, terminal);
    case 'deleteThread':
      return deleteThread(client, request, terminal);
    case 'mcpServers':
      return listMcpServers(client, request, terminal);
    case 'mcpLogin':
      return logInToMcp(client, request, terminal);
    case 'mcpLogout':
      return logOutOfMcp(client, request, terminal);
    default:
      return request satisfies never;
  }
}
