import { join } from 'node:path';
import { readRegularFileSync } from '../../base/files/read-regular-file.ts';
import { isObject } from '../../base/json-value.ts';
import { appendLine } from '../append-line.ts';
import { loadToml } from '../layers/toml.ts';

const CONFIG_BYTES_MAX = 1024 * 1024;

/** Whether the config.toml of the home defines this server, so that an approval can be stored there. */
export async function isHomeServer(home: string, server: string): Promise<boolean> {
  try {
    return serverTable(await parsed(read(home)), server) !== null;
  } catch {
    return false;
  }
}

/**
 * Stores in the home's config.toml that a tool of a server needs no approval. Returns the problem as a sentence; null: it is stored.
 * Only adds lines at the end of the file, and only if the file then says exactly this more.
 */
export async function storeToolApproval(home: string, { server, tool }: { server: string; tool: string }): Promise<string | null> {
  try {
    const text = read(home);
    const table = serverTable(await parsed(text), server);
    if (table === null) return `config.toml does not define the MCP server ${server}.`;
    const tools = isObject(table.tools) ? table.tools : {};
    const known = Object.hasOwn(tools, tool) ? tools[tool] : undefined;
    if (isObject(known) && known.approval_mode === 'approve') return null;
    const lines = `\n[mcp_servers.${key(server)}.tools.${key(tool)}]\napproval_mode = "approve"`;
    const after = serverTable(await parsed(`${text}\n${lines}\n`), server);
    const added = isObject(after?.tools) ? after.tools[tool] : undefined;
    if (!isObject(added) || added.approval_mode !== 'approve') return 'config.toml cannot be extended.';
    appendLine(join(home, 'config.toml'), lines, CONFIG_BYTES_MAX);
    return null;
  } catch (error) {
    return `The approval could not be stored in config.toml: ${error instanceof Error ? error.message : String(error)}.`;
  }
}

function read(home: string): string {
  return readRegularFileSync(join(home, 'config.toml'), { bytesMax: CONFIG_BYTES_MAX })?.bytes.toString('utf8') ?? '';
}

async function parsed(text: string): Promise<unknown> {
  return (await loadToml()).parse(text, 'config.toml');
}

function serverTable(config: unknown, server: string): Record<string, unknown> | null {
  const servers = isObject(config) ? config.mcp_servers : undefined;
  const table = isObject(servers) && Object.hasOwn(servers, server) ? servers[server] : undefined;
  return isObject(table) ? table : null;
}

/** A key of TOML, quoted if it has to be. */
function key(text: string): string {
  return /^[\w-]+$/.test(text) ? text : JSON.stringify(text);
}
