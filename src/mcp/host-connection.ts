import type { JsonValue } from '../base/json-value.ts';
import type { McpError } from './messages/mcp-error.ts';
import type {
  ConnectedServer,
  McpAnswer,
  McpQuestion,
  McpRequest,
  Progress,
} from './messages/mcp-host.ts';

/** A connection, as the code that owns it hears it. */
export interface ConnectionEvents {
  /** Bytes for the input of the server's process. */
  onOutput(bytes: Uint8Array): void;
  /** The host has read so many bytes. */
  onTaken(bytes: number): void;
  /** The server asks. `call`: the request in whose course it asks; null: unknown. */
  onQuestion(call: number | null, question: McpQuestion, signal: AbortSignal): Promise<McpAnswer>;
  /** Its tools have changed. `isLast`: no further change has come for a moment. */
  onToolsChanged(isLast: boolean): void;
  /** The connection has ended by itself. */
  onClosed(reason: string | null): void;
}

/** An open connection to a server. */
export interface HostConnection {
  /** Resolves when the server has answered the handshake. Rejects with an McpError. */
  readonly connected: Promise<ConnectedServer>;
  input(bytes: Uint8Array): void;
  /**
   * Sends a request. `begun` gets its number. Rejects with an McpError; an abort of the signal
   * cancels it.
   */
  request(request: McpRequest, options: McpRequestOptions): Promise<JsonValue>;
  rootsChanged(): void;
  /** Requests that wait are rejected with this error. */
  close(why: McpError): void;
}

export interface McpRequestOptions {
  signal: AbortSignal;
  begun?: (call: number) => void;
  onProgress?: (progress: Progress) => void;
}
