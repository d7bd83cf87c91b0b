import { cutText } from '../../base/text/cut-text.ts';
import { internal, RpcError } from '../rpc-error.ts';

/** The maximum length of a client's string in an error message. */
const SHOWN_CHARS_MAX = 100;

/** `failures` name the servers, with the reason of each. */
export function requiredServersFailed(failures: readonly string[]): RpcError {
  const text = `required MCP servers failed to initialize: ${failures.join('; ')}`;
  return internal(text, { code: 'mcp_server_failed' });
}

/** `known` are the names of the servers that there are. */
export function unknownMcpServer(server: string, known: readonly string[]): RpcError {
  const text = `unknown MCP server '${cutText(server, SHOWN_CHARS_MAX)}'. The servers are: ${known.join(', ') || 'none'}`;
  return internal(text, { code: 'mcp_server_not_found' });
}

/** An MCP server could not do what was asked. `code`: that of its own error; null: it gave none. */
export function mcpRequestFailed(code: number | null, message: string): RpcError {
  const data = { code: 'mcp_request_failed' } as const;
  return code === null ? internal(message, data) : new RpcError(code, message, data);
}
