import { systemClock } from '../../base/clock.ts';
import type { Client } from '../../client/client.ts';
import { RequestError } from '../../client/request-error.ts';
import { spawnServer } from '../../client/spawn-server.ts';
import type { ErrorCode } from '../../protocol/generated/error-code.ts';
import { ProgressLine, progressPlace } from '../progress/progress-line.ts';
import type { Terminal } from '../terminal/terminal-at.ts';
import { deleteThread } from './delete-thread.ts';
import { listMcpServers } from './list-mcp-servers.ts';
import { listModels } from './list-models.ts';
import { listThreads } from './list-threads.ts';
import { logInToMcp } from './log-in-to-mcp.ts';
import { logOutOfMcp } from './log-out-of-mcp.ts';
import { printThread } from './print-thread.ts';

/** A command that asks a server. */
export type Request =
  | { kind: 'models'; json: boolean }
  | { kind: 'threads'; searchTerm: string | null; json: boolean }
  | { kind: 'thread'; threadId: string; format: 'jsonl' | 'markdown' }
  | { kind: 'deleteThread'; threadId: string; yes: boolean }
  | { kind: 'mcpServers'; json: boolean }
  | { kind: 'mcpLogin' | 'mcpLogout'; name: string };

interface RequestOptions {
  /** The command line of the server: Node, and heddle's executable. */
  server: [command: string, script: string];
  /** Settings that override config.toml, as `key=value` strings. */
  overrides: readonly string[];
  version: string;
  /** Shows the progress of slow work. */
  stderr: { write(text: string): unknown; isTTY?: boolean; columns?: number };
  env: Readonly<Record<string, string | undefined>>;
}

/**
 * Starts a server, makes the request and prints the result. Returns whether it succeeded. Rejects
 * with an Error for a person.
 */
export async function runRequest(
  request: Request,
  options: RequestOptions,
  terminal: Terminal,
): Promise<boolean> {
  const { server, overrides, version, stderr, env } = options;
  const userHome = env.HOME || null;
  const [command, script] = server;
  const settings = overrides.map((override) => `--config=${override}`);
  const progress = new ProgressLine(progressPlace(stderr, env), {
    clock: systemClock,
    write: (text) => stderr.write(text),
  });
  if (!('json' in request && request.json)) progress.step(stepOf(request));
  const client = spawnServer({ command, args: [script, 'app-server', ...settings] });
  try {
    const capabilities = { experimentalApi: true };
    await client.initialize({ clientInfo: { name: 'heddle-cli', version }, capabilities });
    return await perform(client, request, {
      terminal: endingProgress(terminal, progress),
      userHome,
      isOverridden: overrides.length > 0,
    });
  } catch (error) {
    throw error instanceof RequestError ? advised(error) : error;
  } finally {
    await client.close();
    progress.end();
  }
}

const THREAD_IDS = '"heddle threads list" prints the ids';

/** The end of an error, by its code: the command that helps. */
const ADVICE: Partial<Record<ErrorCode, string>> = {
  invalid_thread_id: THREAD_IDS,
  thread_not_found: THREAD_IDS,
};

/** The same error for a person. */
function advised(error: RequestError): Error {
  const advice = error.data.code && ADVICE[error.data.code];
  return advice
    ? new Error(`${error.message.replace(/\.$/, '')}: ${advice}`, { cause: error })
    : error;
}

/** The work that the command waits for, in words. */
function stepOf(request: Request): string {
  switch (request.kind) {
    case 'models':
      return 'asking the provider for its models';
    case 'threads':
      return 'reading the threads';
    case 'thread':
    case 'deleteThread':
      return 'reading the thread';
    case 'mcpServers':
      return 'starting the MCP servers';
    case 'mcpLogin':
      return `asking the MCP server ${request.name} where to log in`;
    case 'mcpLogout':
      return `removing the login to the MCP server ${request.name}`;
    default:
      return request satisfies never;
  }
}

/** The same terminal. Whatever it prints first takes the place of the progress. */
function endingProgress(terminal: Terminal, progress: ProgressLine): Terminal {
  const { print, note, confirm, columns } = terminal;
  const ending =
    <Argument, Result>(act: (argument: Argument) => Result) =>
    (argument: Argument) => {
      progress.end();
      return act(argument);
    };
  return { print: ending(print), note: ending(note), confirm: confirm && ending(confirm), columns };
}

function perform(
  client: Client,
  request: Request,
  {
    terminal,
    userHome,
    isOverridden,
  }: { terminal: Terminal; userHome: string | null; isOverridden: boolean },
): Promise<boolean> {
  switch (request.kind) {
    case 'models':
      return listModels(client, { ...request, isOverridden }, terminal);
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
