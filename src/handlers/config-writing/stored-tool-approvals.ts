import type { ToolApprovals } from '../../agent/mcp/tool-approvals.ts';
import type { Config } from '../../config/config.ts';
import { layerVersion } from '../../config/layers/layer.ts';
import { quotedKey } from '../../config/layers/split-key.ts';
import { definesServer } from '../../config/mcp/defines-server.ts';
import { validOrNull } from '../../config/valid-or-null.ts';
import { isVersionConflict } from '../../protocol/config-write-refused.ts';
import { type ConfigWriter, userLayer } from './config-writer.ts';

/** Another program may change the file at the same time. */
const WRITE_TRIES_MAX = 3;

interface StoredToolApprovalsDeps {
  configWriter: ConfigWriter;
  config(): Promise<Config>;
}

/** Stores approvals of MCP tools in config.toml in the home. */
export function storedToolApprovals({ configWriter, config }: StoredToolApprovalsDeps): ToolApprovals {
  return {
    async mayStore(server, tool) {
      const now = await validOrNull(config);
      return now !== null && quotedKey(tool) !== null && definesServer(now, server);
    },

    async store(server, tool) {
      const keyPath = `mcp_servers.${quotedKey(server.name)}.tools.${quotedKey(tool)}.approval_mode`;
      for (let tries = 1; ; tries++) {
        try {
          const now = await config();
          if (!definesServer(now, server)) return `config.toml does not define the MCP server ${server.name} as this thread has it.`;
          const expectedVersion = layerVersion(userLayer(now));
          await configWriter.write({ edits: [{ keyPath, value: 'approve', mergeStrategy: 'replace' }], expectedVersion });
          return null;
        } catch (error) {
          if (!isVersionConflict(error) || tries === WRITE_TRIES_MAX) return unstored(error);
        }
      }
    },
  };
}

/** The call is made all the same, so whatever went wrong is told to the user. */
function unstored(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return `The approval could not be stored in config.toml: ${message.replace(/\.$/, '')}.`;
}
