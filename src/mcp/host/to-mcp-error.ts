import {
  InsufficientScopeError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { cutMiddle } from '../../base/text/cut-middle.ts';
import { McpError, type McpErrorDetails } from '../messages/mcp-error.ts';

/** The library's name for the first request, which says nothing to a user. */
const PROBE = /^Version negotiation probe failed: /;
const NOT_FOUND = 404;
const UNAUTHORIZED = 401;
const CAUSES_MAX = 5;
/**
 * The longest message, which servers and error pages decide: it goes to the model, to clients and
 * to the log.
 */
const MESSAGE_CHARS_MAX = 2_000;

/** Why a request or a connection failed. */
export function toMcpError(error: unknown): McpError {
  if (error instanceof InsufficientScopeError) {
    const scopes = (error.requiredScope ?? '').split(' ').filter((scope) => scope !== '');
    const which = scopes.length === 0 ? '' : `: ${scopes.join(' ')}`;
    return failure('unauthorized', `the server requires more permissions${which}. Log in again`, {
      scopes,
    });
  }
  if (error instanceof UnauthorizedError)
    return failure('unauthorized', 'the server requires a login');
  if (error instanceof ProtocolError) {
    const { code, message } = error;
    return failure('server', withoutPrefix(message, code), { code });
  }
  if (error instanceof SdkHttpError) return httpFailure(error);
  if (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed)
    return failure('closed', 'the server has ended');
  return failure('other', chainOf(error));
}

function httpFailure(error: SdkHttpError): McpError {
  const status = (error.data as { status?: number } | undefined)?.status ?? null;
  if (status === UNAUTHORIZED || error.code === SdkErrorCode.ClientHttpAuthentication)
    return failure('unauthorized', 'the server refused the login (HTTP 401)');
  if (status === NOT_FOUND)
    return failure('sessionLost', 'the server does not know this session or address (HTTP 404)');
  return failure('other', chainOf(error));
}

function failure(kind: McpError['kind'], message: string, details: McpErrorDetails = {}): McpError {
  return new McpError(kind, cutMiddle(message, MESSAGE_CHARS_MAX), details);
}

function withoutPrefix(message: string, code: number): string {
  const prefix = `MCP error ${code}: `;
  return message.startsWith(prefix) ? message.slice(prefix.length) : message;
}

/** The message of an error with those of its causes, which say why a fetch failed. */
function chainOf(error: unknown, depth = 0): string {
  if (!(error instanceof Error)) return String(error);
  const own = (error.message || error.name).replace(PROBE, '');
  const { cause } = error;
  if (error instanceof AggregateError && error.errors.length > 0)
    return chainOf(error.errors[0], depth + 1);
  if (cause === undefined || depth > CAUSES_MAX) return own;
  const why = chainOf(cause, depth + 1);
  // The library repeats the message of a cause in its own.
  return own.endsWith(why) ? own : `${own}: ${why}`;
}
