import type { JsonObject, JsonValue } from '../../base/json-value.ts';
import type { FunctionCallOutputBody, McpToolCallResult } from '../../protocol/generated/types.ts';

/**
 * A server to connect to, for the host. A server on stdio runs in the main thread: its bytes come
 * and go in messages.
 */
export type HostedServer =
  | { type: 'stdio' }
  | {
      type: 'http';
      url: string;
      headers: Readonly<Record<string, string>>;
      /** `token`: the main thread has a bearer token, or will have one. An object: a login. */
      authentication: 'none' | 'token' | LoginRequest;
    };

/** How the user logs in to a server. */
export interface LoginRequest {
  redirectUrl: string;
  /** Null: those that the server asks for. */
  scopes: readonly string[] | null;
  /** Scopes that the server has asked for since the last login. */
  neededScopes: readonly string[];
  resource: string | null;
  clientId: string | null;
  clientSecret: string | null;
  /** The URL of a document that describes the client. Null: there is none. */
  clientMetadataUrl: string | null;
  /** Whether a server at a public address may name private ones for its login. */
  reachesPrivate: boolean;
  /**
   * `cimd`: the client is known by this document; `dcr`: it is registered; `auto`: whichever there
   * is. A `clientId` goes before.
   */
  registration: 'auto' | 'cimd' | 'dcr';
}

/** The stored part of the logins to a server. */
export interface StoredCredentials {
  /** As the authorization server sent them. */
  tokens: JsonObject | null;
  /** When the access token ends, in Unix milliseconds; null: unknown. */
  expiresAtMs: number | null;
  /** The registered clients, by authorization server. */
  clients: Readonly<Record<string, JsonObject>>;
  /** The known facts of the authorization server. */
  discovery: JsonObject | null;
}

/** The changes that a login makes to it. */
export type CredentialsChange = Partial<Omit<StoredCredentials, 'expiresAtMs'>>;

/** A tool as the server describes it. */
export interface McpTool {
  name: string;
  title: string | null;
  description: string | null;
  /** The schema of its arguments as providers take it. */
  inputSchema: JsonObject;
  /** The whole description, for clients. */
  raw: JsonObject;
  annotations: McpToolAnnotations | null;
}

export interface McpToolAnnotations {
  title?: string;
  readOnlyHint?: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
  openWorldHint?: boolean;
}

/**
 * The tools of a server, and those that are left out, because providers would refuse them or they
 * are too large.
 */
export interface McpToolList {
  tools: readonly McpTool[];
  leftOut: readonly { name: string; why: string }[];
}

/** A server's description of itself when it is connected. */
export interface ConnectedServer {
  protocolVersion: string;
  /** `serverInfo`. */
  info: JsonObject | null;
  capabilities: JsonObject;
  instructions: string | null;
}

/**
 * A request to a server. `charsMax`: the result is for a model, which reads about so many
 * characters of text; it is a `McpCallOutcome` or a `CutResult`. Absent: the result is as the
 * server sends it.
 */
export type McpRequest =
  | { op: 'listTools' }
  | {
      op: 'callTool';
      name: string;
      arguments: JsonObject;
      meta: JsonObject | null;
      charsMax?: number;
    }
  | { op: 'listResources'; cursor: string | null; charsMax?: number }
  | { op: 'listResourceTemplates'; cursor: string | null; charsMax?: number }
  | { op: 'readResource'; uri: string; meta: JsonObject | null; charsMax?: number };

/** The result of a tool. */
export interface McpCallOutcome {
  isError: boolean;
  /** For the model. */
  output: FunctionCallOutputBody;
  /** For the item. */
  result: McpToolCallResult;
}

/** The result of another request, without what goes beyond the limit. */
export interface CutResult {
  value: JsonValue;
  isCut: boolean;
}

/**
 * Asks an authorization server for other tokens. The result is what it answers, with what it leaves
 * as it was.
 */
export interface RefreshRequest {
  /** The address of the MCP server. */
  url: string;
  stored: StoredCredentials;
  /** From the configuration. A `clientId` of null: the client that the user has logged in with. */
  client: Pick<LoginRequest, 'resource' | 'clientId' | 'clientSecret' | 'reachesPrivate'>;
}

/**
 * A question of a server, or of the connection: `token` asks for the bearer token. `refused`: the
 * last one, which the server did not take; empty: it did not take a request without one.
 */
export type McpQuestion =
  | { kind: 'elicitation'; params: JsonObject }
  | { kind: 'sampling'; params: JsonObject }
  | { kind: 'roots' }
  | { kind: 'token'; refused: string | null }
  /** The stored credentials, and changes of them. */
  | { kind: 'credentials' }
  | { kind: 'storeCredentials'; change: CredentialsChange }
  /** Sends the user to this address. The answer is the query of the redirect that follows. */
  | { kind: 'authorize'; url: string };

/** The answer to a question: its result, or the error that the server gets. */
export type McpAnswer = { result: JsonValue } | { error: { code: number; message: string } };

/**
 * Speaks with the servers, perhaps in a worker. All values are data. Numbers of connections and
 * calls are unique. Errors are McpErrors.
 */
export interface McpHost {
  /** Resolves when the server has answered the handshake. */
  connect(
    connection: number,
    server: HostedServer,
    clientVersion: string,
  ): Promise<ConnectedServer>;
  input(connection: number, bytes: Uint8Array): void;
  request(
    connection: number,
    call: number,
    request: McpRequest,
    cancelled: AbortSignal,
  ): Promise<JsonValue>;
  /** Belongs to no connection: it goes on if the connection that needs it ends. */
  refresh(
    request: RefreshRequest,
    clientVersion: string,
    cancelled: AbortSignal,
  ): Promise<JsonValue>;
  rootsChanged(connection: number): void;
  close(connection: number): void;
}

/** How far a server has come with a call. */
export interface Progress {
  progress: number;
  total: number | null;
  message: string | null;
}

/** What the host tells the main thread, and asks it. */
export interface McpHostUser {
  output(connection: number, bytes: Uint8Array): void;
  /** So many bytes of input have been read. */
  taken(connection: number, bytes: number): void;
  progress(call: number, progress: Progress): void;
  /** `call`: the request in whose course the server asks; null: unknown. */
  ask(
    connection: number,
    call: number | null,
    question: McpQuestion,
    withdrawn: AbortSignal,
  ): Promise<McpAnswer>;
  /** The server has changed its tools. `isLast`: no further change has come for a moment. */
  toolsChanged(connection: number, isLast: boolean): void;
  closed(connection: number, reason: string | null): void;
  noticed(connection: number, message: string): void;
}
