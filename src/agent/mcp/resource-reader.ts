import { isObject, type JsonObject, type JsonValue } from '../../base/json-value.ts';
import { cutText } from '../../base/text/cut-text.ts';
import { McpError } from '../../mcp/messages/mcp-error.ts';
import type { CutResult, McpRequest } from '../../mcp/messages/mcp-host.ts';
import type { ThreadServer, ThreadServers } from './thread-servers.ts';

/** The arguments of a call that are not empty. */
export interface ResourceArguments {
  server: string | null;
  cursor: string | null;
  uri: string | null;
}

type ResourceRequest = Extract<
  McpRequest,
  { op: 'listResources' | 'listResourceTemplates' | 'readResource' }
>;

/** Reads the resources of servers for one call of the model. */
export class ResourceReader {
  readonly #servers: ThreadServers;
  readonly #named: ThreadServer | null;
  readonly #limits: { charsMax: number; signal: AbortSignal };
  /** Whether a server's answer was cut. */
  #isCut = false;

  /**
   * `named`: the server that the call names, as it was when the call was judged; null: it names
   * none, or there was none of this name. `charsMax`: the longest answer and the longest output.
   */
  constructor(
    servers: ThreadServers,
    named: ThreadServer | null,
    limits: { charsMax: number; signal: AbortSignal },
  ) {
    this.#servers = servers;
    this.#named = named;
    this.#limits = limits;
  }

  /** Lists a page of the named server, or everything of all servers. Rejects with an McpError. */
  async list(
    { server, cursor }: ResourceArguments,
    {
      op,
      key,
    }: { op: 'listResources' | 'listResourceTemplates'; key: 'resources' | 'resourceTemplates' },
  ): Promise<JsonValue> {
    if (server !== null) {
      const page = await this.#ask(this.#required(server), { op, cursor });
      const { nextCursor } = isObject(page) ? page : {};
      return {
        server,
        [key]: entriesOf(page, key, server),
        ...(typeof nextCursor === 'string' ? { nextCursor } : {}),
      };
    }
    if (cursor !== null)
      throw new McpError('other', 'A cursor belongs to one server: name it with `server`.');
    // The others need not wait for one that is started again and again.
    const asked = this.#servers.all.filter((each) => !each.server.hasFailed);
    const all = await Promise.all(
      asked.map(async (each) => {
        try {
          return entriesOf(await this.#ask(each, { op, cursor: null }), key, each.config.name);
        } catch (error) {
          // One server that cannot answer does not hide the others.
          if (error instanceof McpError && error.kind !== 'cancelled') return [];
          throw error;
        }
      }),
    );
    return { [key]: all.flat() };
  }

  /** Reads a resource of the named server. Rejects with an McpError. */
  async read({ server, uri }: ResourceArguments): Promise<JsonValue> {
    const result = await this.#ask(this.#required(server ?? ''), {
      op: 'readResource',
      uri: uri ?? '',
      meta: null,
    });
    const contents =
      isObject(result) && Array.isArray(result.contents) ? (result.contents as JsonValue[]) : [];
    return { server, uri, contents };
  }

  /** The output for the model, with the content. It says if something was left out. */
  shown(read: JsonValue): string {
    const { charsMax } = this.#limits;
    const text = JSON.stringify(read);
    return this.#isCut || text.length > charsMax
      ? `${cutText(text, charsMax)}\n[… The rest was left out: it is too long.]`
      : text;
  }

  /** Asks one server. Rejects with an McpError. */
  async #ask({ server, config, user }: ThreadServer, request: ResourceRequest): Promise<JsonValue> {
    const { charsMax, signal } = this.#limits;
    const options = { timeoutMs: config.toolTimeoutMs, signal, user };
    const cut = (await server.request({ ...request, charsMax }, options)) as unknown as CutResult;
    this.#isCut ||= cut.isCut;
    return cut.value;
  }

  #required(name: string): ThreadServer {
    if (this.#named !== null) return this.#named;
    const names = this.#servers.all.map(({ config }) => config.name);
    throw new McpError(
      'other',
      `unknown MCP server '${name}'. The servers are: ${names.join(', ') || 'none'}.`,
    );
  }
}

/** The entries of a page, each with the name of its server. */
function entriesOf(page: JsonValue, key: string, server: string): JsonObject[] {
  const entries = isObject(page) && Array.isArray(page[key]) ? (page[key] as unknown[]) : [];
  return entries.filter(isObject).map((entry) => ({ server, ...(entry as JsonObject) }));
}
