import type { Config } from '../../config/config.ts';
import { definesServer } from '../../config/mcp/defines-server.ts';
import type { McpServerConfig } from '../../config/mcp/mcp-server-config.ts';
import { quotedKey } from '../../config/toml/split-key.ts';
import { validOrNull } from '../../config/valid-or-null.ts';
import type { ConfigEdit } from '../../protocol/generated/types.ts';

/** Changes config.toml in the home. Rejects with the reason why nothing was changed. */
interface UserConfig {
  write(change: { edits: (now: Config) => ConfigEdit[] }): Promise<unknown>;
}

/** Stores in config.toml in the home that tools of MCP servers need no approval. */
export class ToolApprovals {
  readonly #config: () => Promise<Config>;
  readonly #file: UserConfig;

  /** `config`: reads the configuration of the server. */
  constructor(config: () => Promise<Config>, file: UserConfig) {
    this.#config = config;
    this.#file = file;
  }

  /**
   * Whether the user's configuration defines this very server, so that an approval of the tool can
   * be stored there.
   */
  async mayStore(server: McpServerConfig, tool: string): Promise<boolean> {
    const now = await validOrNull(this.#config);
    return now !== null && quotedKey(tool) !== null && definesServer(now, server);
  }

  /**
   * `definition` identifies the one that the user was shown (`storedToolKey`). Returns the problem
   * as a sentence; null: it is stored.
   */
  async store(server: McpServerConfig, tool: string, definition: string): Promise<string | null> {
    const table = `mcp_servers.${quotedKey(server.name)}.tools.${quotedKey(tool)}`;
    const edits = (now: Config): ConfigEdit[] => {
      if (!definesServer(now, server))
        throw new Error(
          `config.toml does not define the MCP server ${server.name} as this thread has it`,
        );
      return [
        { keyPath: `${table}.approval_mode`, value: 'approve', mergeStrategy: 'replace' },
        { keyPath: `${table}.approved_definition`, value: definition, mergeStrategy: 'replace' },
      ];
    };
    return this.#file.write({ edits }).then(() => null, unstored);
  }
}

/** The call is made all the same, so whatever went wrong is told to the user. */
function unstored(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return `The approval could not be stored in config.toml: ${message.replace(/\.$/, '')}.`;
}
