import type { McpHttp } from '../config/mcp/mcp-server-config.ts';

/** Bearer tokens for servers that are reached by HTTP. */
export interface TokenSource {
  /** The token for the next request; null: there is none. `refused`: the server did not take the last one. Never rejects. */
  token(server: { name: string; transport: McpHttp }, options: { refused: boolean }): Promise<string | null>;
}

/** The tokens that the configuration names by their variables. */
export const configuredTokens: TokenSource = {
  token: async ({ transport }, { refused }) => (refused ? null : transport.bearerToken),
};
