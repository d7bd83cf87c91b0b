import type { ToolApprovals } from '../../agent/mcp/tool-approvals.ts';
import type { Config } from '../../config/config.ts';
import { definesServer } from '../../config/mcp/defines-server.ts';
import { quotedKey } from '../../config/toml/split-key.ts';
import { validOrNull } from '../../config/valid-or-null.ts';
import type { ConfigEdit } from '../../protocol/generated/types.ts';
import type { Configured } from './configured.ts';

/** Stores approvals of MCP tools in config.toml in the home. */
export function storedToolApprovals({
  configWriter,
  config,
}: Pick<Configured, 'config' | 'configWriter'>): ToolApprovals {
  return {
    async mayStore(server, tool) {
      const now = await validOrNull(config);
      return now !== null && quotedKey(tool) !== null && definesServer(now, server);
    },

    async store(server, tool, definition) {
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
      return configWriter.write({ edits }).then(() => null, unstored);
    },
  };
}

/** The call is made all the same, so whatever went wrong is told to the user. */
function unstored(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return `The approval could not be stored in config.toml: ${message.replace(/\.$/, '')}.`;
}
