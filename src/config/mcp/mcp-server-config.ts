/**
 * When calls of a tool need approval: `auto`, unless its annotations say that it only reads, or the
 * user has allowed it for longer; `writes`, the same, but each call anew; `prompt`, always;
 * `approve`, never.
 */
export type McpApprovalMode = 'auto' | 'prompt' | 'writes' | 'approve';

/** A server that runs as a process and speaks over its stdin and stdout. */
export interface McpStdio {
  type: 'stdio';
  command: string;
  args: readonly string[];
  /** Its whole environment. */
  env: Readonly<Record<string, string>>;
  /** Null: the working directory of the thread. */
  cwd: string | null;
}

/** A server that is reached by HTTP. */
export interface McpHttp {
  type: 'http';
  url: string;
  headers: Readonly<Record<string, string>>;
  /**
   * The token of the variable that the configuration names; null: it names none, or the variable is
   * not set.
   */
  bearerToken: string | null;
  /** Null: the configuration names no variable. */
  bearerTokenVariable: string | null;
  oauth: McpOauthConfig;
}

export interface McpOauthConfig {
  scopes: readonly string[] | null;
  resource: string | null;
  clientId: string | null;
  clientSecret: string | null;
  /**
   * The URL of a document that describes the client, for servers that take one in place of a
   * registration.
   */
  clientMetadataUrl: string | null;
  /** Whether a server at a public address may name private ones for its login. */
  reachesPrivate: boolean;
}

/** An MCP server as `[mcp_servers.NAME]` configures it. */
export interface McpServerConfig {
  name: string;
  transport: McpStdio | McpHttp;
  enabled: boolean;
  /** Threads are refused if it does not start. */
  required: boolean;
  startupTimeoutMs: number;
  toolTimeoutMs: number;
  /** Null: all. */
  enabledTools: readonly string[] | null;
  disabledTools: readonly string[];
  approvalMode: McpApprovalMode;
  /**
   * Whether calls that the model makes together may run at the same time, although they may change
   * something.
   */
  callsInParallel: boolean;
  /** By the name of a tool. */
  toolApprovals: Readonly<Record<string, McpApprovalMode>>;
  /**
   * The definitions that approvals of tools were stored for, as hashes, by the name of a tool.
   * Those without one are for any definition.
   */
  approvedTools: Readonly<Record<string, string>>;
  /** Values of its configuration that no error and no log may show. */
  secrets: readonly string[];
}

/**
 * The same for the same program or address under the same name. An approval for a server holds for
 * no other that has its name.
 */
export function serverKey({ name, transport }: McpServerConfig): string {
  return JSON.stringify([name, transport]);
}

/**
 * Whether the headers of the configuration name the authorization, so that the server is connected
 * without a login.
 */
export function hasOwnAuthorization({ headers, bearerTokenVariable }: McpHttp): boolean {
  return (
    bearerTokenVariable === null &&
    Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')
  );
}

/** The variable that should have the token of the server, and is not set. Null: none is missing. */
export function missingTokenVariable({ transport }: McpServerConfig): string | null {
  return transport.type === 'http' && transport.bearerToken === null
    ? transport.bearerTokenVariable
    : null;
}

/**
 * When calls of a tool of this name need approval, if its definition is the one that was approved.
 */
export function approvalModeOf(
  { approvalMode, toolApprovals }: McpServerConfig,
  tool: string,
): McpApprovalMode {
  return (Object.hasOwn(toolApprovals, tool) ? toolApprovals[tool] : undefined) ?? approvalMode;
}

/** Whether the configuration lets the model use this tool of the server. */
export function isToolEnabled(
  { enabledTools, disabledTools }: McpServerConfig,
  tool: string,
): boolean {
  return (enabledTools === null || enabledTools.includes(tool)) && !disabledTools.includes(tool);
}
