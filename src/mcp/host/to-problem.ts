import {
  InsufficientScopeError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { cutMiddle } from '../../base/text/cut-middle.ts';
import type { McpProblem } from '../messages/to-host.ts';

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

/** Why a request or a connection failed, as data. */
export function toProblem(error: unknown): McpProblem {
  if (error instanceof InsufficientScopeError) {
    const scopes = (error.requiredScope ?? '').split(' ').filter((scope) => scope !== '');
    const which = scopes.length === 0 ? '' : `: ${scopes.join(' ')}`;
    return {
      ...problem('unauthorized', `the server requires more permissions${which}. Log in again`),
      scopes,
    };
  }
  if (error instanceof UnauthorizedError)
    return problem('unauthorized', 'the server requires a login');
  if (error instanceof ProtocolError) {
    const { code, message } = error;
    return { ...problem('server', withoutPrefix(message, code)), code };
  }
  if (error instanceof SdkHttpError) return httpProblem(error);
  if (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed)
    return problem('closed', 'the server has ended');
  return problem('other', chainOf(error));
}

function httpProblem(error: SdkHttpError): McpProblem {
  const status = (error.data as { status?: number } | undefined)?.status ?? null;
  if (status === UNAUTHORIZED || error.code === SdkErrorCode.ClientHttpAuthentication)
    return problem('unauthorized', 'the server refused the login (HTTP 401)');
  if (status === NOT_FOUND)
    return problem('sessionLost', 'the server does not know this session or address (HTTP 404)');
  return problem('other', chainOf(error));
}

function problem(kind: McpProblem['kind'], message: string): McpProblem {
  return { kind, message: cutMiddle(message, MESSAGE_CHARS_MAX), code: null };
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
