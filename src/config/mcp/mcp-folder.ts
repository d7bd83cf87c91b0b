import { join } from 'node:path';
import type { Config } from '../config.ts';

/** Its name in the home. */
export const MCP_FOLDER = 'heddle-mcp';

/**
 * The folder in which the programs of MCP run unless the user names another one. No project and no command can put anything into it
 * that they would run, such as the packages that `npx` finds in a working directory.
 */
export function mcpFolder({ home }: Pick<Config, 'home'>): string {
  return join(home, MCP_FOLDER);
}
