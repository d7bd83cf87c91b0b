import type { Client, JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { JsonObject } from '../../base/json-value.ts';
import type { ConnectedServer } from '../messages/mcp-host.ts';
import { fitsLimits } from './limits/json-limits.ts';
import { limitMessage } from './limits/limit-message.ts';
import { NO_TIMEOUT_MS } from './send-request.ts';

type Receive = NonNullable<Transport['onmessage']>;

const INVALID_PARAMS = -32602;
const INTERNAL_ERROR = -32603;
/**
 * The longest description that a server gives of itself: its capabilities, its instructions and
 * `serverInfo`.
 */
const DESCRIPTION = { chars: 1024 * 1024, values: 50_000, depth: 100 };
const TOO_TALKATIVE = `the server's description of itself is longer than ${DESCRIPTION.chars} characters, or nested too deeply`;

/**
 * Connects a client whose messages from the server are limited. Instead of an answer that is too
 * large, the client gets an error. A request is refused, and a notification has no params. Rejects
 * if the server sends such an answer before it is connected.
 */
export async function connectLimited(client: Client, transport: Transport): Promise<void> {
  let tooLarge: string | null = null;
  let isConnected = false;
  limitMessages(transport, (problem) => {
    if (isConnected) return false;
    // The library would take the error for that of an older server, and go on.
    tooLarge = problem;
    void transport.close();
    return true;
  });
  try {
    await client.connect(transport, { timeout: NO_TIMEOUT_MS });
    isConnected = true;
  } catch (error) {
    throw tooLarge === null ? error : new Error(tooLarge);
  }
}

/**
 * How a connected server describes itself. Throws an error with the problem if it does so at too
 * great a length.
 */
export function connectedServer(client: Client): ConnectedServer {
  const server = {
    protocolVersion: client.getNegotiatedProtocolVersion() ?? '',
    info: (client.getServerVersion() ?? null) as JsonObject | null,
    capabilities: (client.getServerCapabilities() ?? {}) as JsonObject,
    instructions: client.getInstructions() ?? null,
  };
  if (!fitsLimits(DESCRIPTION, server)) throw new Error(TOO_TALKATIVE);
  return server;
}

/**
 * `isEnded`: called with the problem of an answer. Returns whether the connection has ended with
 * it.
 */
function limitMessages(transport: Transport, isEnded: (problem: string) => boolean): void {
  const pass = (receive: Receive): Receive => {
    return (message, extra) => {
      const problem = limitMessage(message);
      if (problem === null) receive(message, extra);
      else if (!('method' in message)) {
        if (!isEnded(problem)) receive(errorResponse(message, INTERNAL_ERROR, problem));
      } else if ('id' in message)
        void transport.send(errorResponse(message, INVALID_PARAMS, problem)).catch(() => {});
      else receive({ jsonrpc: '2.0', method: message.method });
    };
  };
  let receive: Receive | undefined;
  // The library sets it, more than once.
  Object.defineProperty(transport, 'onmessage', {
    get: () => receive,
    set: (next: Receive | undefined) => {
      receive = next && pass(next);
    },
  });
}

function errorResponse(
  { id }: JSONRPCMessage & { id?: unknown },
  code: number,
  message: string,
): JSONRPCMessage {
  return { jsonrpc: '2.0', id: id as number, error: { code, message } };
}
