import { join } from 'node:path';
import type { JsonObject, JsonValue } from '../../base/json-value.ts';
import type { Config } from '../../config/config.ts';
import { canonicalJson } from '../../config/layers/layer.ts';
import { isTable, valueAt } from '../../config/toml/config-table.ts';
import type { Configured } from '../config-writing/configured.ts';
import { type Importer, type Refused, SourceError, type Taken, TakenError } from './found.ts';
import { readSourceJson } from './read-source.ts';
import type { Scope } from './scope.ts';
import { serverTable } from './server-table.ts';
import { takeEach } from './take-each.ts';

const SERVERS_MAX = 100;

/**
 * MCP servers, which go to config.toml in heddle's home, because a project cannot name programs.
 * One of a project runs in its folder.
 */
export function mcpServersImporter({
  home,
  config,
  configWriter,
}: { home: string } & Pick<Configured, 'config' | 'configWriter'>): Importer {
  return {
    itemType: 'MCP_SERVER_CONFIG',
    details: 'mcpServers',
    async look(scope) {
      const { servers, refused } = await sourceServers(scope);
      if (servers.size === 0 && refused.length === 0) return null;
      const tables = freeTables(servers, { scope, values: (await config()).values, refused });
      return {
        description: `Migrate MCP servers from ${scope.root} into ${join(home, 'config.toml')}`,
        names: [...tables.keys()],
        refused,
        take: (names) => takeEach(names, (name) => write(name, tables.get(name) ?? {})),
      };
    },
  };

  async function write(name: string, table: JsonObject): Promise<Taken> {
    const edits = (current: Config) => {
      if (valueAt(current.values, ['mcp_servers', name]) !== undefined)
        throw new TakenError(collision(name).message);
      return [
        { keyPath: `mcp_servers."${name}"`, value: table, mergeStrategy: 'replace' as const },
      ];
    };
    await configWriter.write({ edits });
    const literal = [table.env, table.http_headers].flatMap((values) =>
      isTable(values) ? Object.keys(values) : [],
    );
    const title =
      literal.length === 0
        ? null
        : `config.toml has these values now, as the source has them: ${literal.join(', ')}`;
    return { source: name, target: name, title };
  }
}

/** The tables of the servers that can be taken. Adds the others to `refused`. */
function freeTables(
  servers: ReadonlyMap<string, JsonValue>,
  { scope, values, refused }: { scope: Scope; values: JsonObject; refused: Refused[] },
): Map<string, JsonObject> {
  const tables = new Map<string, JsonObject>();
  const sorted = [...servers].sort(([a], [b]) => (a < b ? -1 : 1));
  const [first] = sorted[SERVERS_MAX] ?? [];
  if (first !== undefined)
    refused.push({
      source: first,
      message: `there are more than ${SERVERS_MAX} servers: this one and those after it are left out`,
      failureStage: 'select',
    });
  for (const [name, server] of sorted.slice(0, SERVERS_MAX)) {
    const read = serverTable(name, server, scope);
    const existing = valueAt(values, ['mcp_servers', name]);
    if ('problem' in read)
      refused.push({ source: name, message: read.problem, failureStage: 'select' });
    else if (existing === undefined) tables.set(name, read.table);
    else if (canonicalJson(existing) !== canonicalJson(read.table)) refused.push(collision(name));
  }
  return tables;
}

function collision(name: string): Refused {
  return {
    source: name,
    message: `config.toml has a server ${name} already, which was not changed`,
    failureStage: 'write',
  };
}

/** The servers by name. A file that cannot be read is refused, and the others count. */
async function sourceServers({
  cwd,
  root,
  state,
}: Scope): Promise<{ servers: Map<string, JsonValue>; refused: Refused[] }> {
  const servers = new Map<string, JsonValue>();
  const refused: Refused[] = [];
  const add = async (path: string, read: () => Promise<JsonObject | null>) => {
    try {
      for (const [name, server] of Object.entries((await read()) ?? {})) servers.set(name, server);
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      refused.push({ source: path, message: error.message, failureStage: 'read' });
    }
  };
  const keys = ['mcpServers'];
  if (state !== null)
    await add(state.path, () => state.read(cwd === null ? keys : ['projects', cwd, ...keys]));
  const ofProject = join(root, '.mcp.json');
  if (cwd !== null) await add(ofProject, () => readSourceJson(ofProject, root, keys));
  return { servers, refused };
}
