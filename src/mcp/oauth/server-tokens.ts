import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { McpHttp, McpServerConfig } from '../../config/mcp/mcp-server-config.ts';
import type { HostConnection } from '../mcp-host-client.ts';
import type { McpAnswer, StoredCredentials } from '../to-host.ts';
import type { CredentialStore, LoginServer } from './credential-store.ts';

/** A token that ends within this time is refreshed before it is used. */
const REFRESH_BEFORE_MS = 60_000;
/** How long a refresh may take. */
const REFRESH_MS_MAX = 30_000;

interface ServerTokensDeps {
  credentials: CredentialStore;
  clock: Clock;
  log: Log;
}

interface TokenOptions {
  /** The last token, which the server did not take; empty: it did not take a request without one. Null: the first question. */
  refused: string | null;
  /** A connection to the server, which sends the request for other tokens. */
  connection: Pick<HostConnection, 'refreshTokens'>;
}

/** The bearer tokens for servers that are reached by HTTP: those of the configuration, and those of logins. */
export class ServerTokens {
  readonly #deps: ServerTokensDeps;

  constructor(deps: ServerTokensDeps) {
    this.#deps = deps;
  }

  /**
   * Answers with the token for the next request; null: there is none. The tokens of a login are refreshed before they end, and if the
   * server refuses them. A refresh that fails changes nothing: the request finds out whether the old token is still good.
   */
  async answer({ name, transport }: Pick<McpServerConfig, 'name' | 'transport'>, options: TokenOptions): Promise<McpAnswer> {
    if (transport.type !== 'http') return { result: null };
    try {
      return { result: transport.bearerTokenVariable === null ? await this.#ofLogin(name, transport, options) : transport.bearerToken };
    } catch (error) {
      return { error: { code: -32603, message: error instanceof Error ? error.message : String(error) } };
    }
  }

  /** Throws if the logins cannot be read. */
  async #ofLogin(name: string, transport: McpHttp, { refused, connection }: TokenOptions): Promise<string | null> {
    const login = { name, url: transport.url };
    const stored = this.#deps.credentials.read(login);
    const token = accessToken(stored);
    if (token === null || (token !== refused && !this.#isEnding(stored))) return token;
    if (typeof stored.tokens?.refresh_token !== 'string') return token === refused ? null : token;
    const refreshed = await this.#refreshed(login, { spent: token, transport, connection });
    return refreshed === refused ? null : refreshed;
  }

  #isEnding({ expiresAtMs }: StoredCredentials): boolean {
    return expiresAtMs !== null && this.#deps.clock.now() + REFRESH_BEFORE_MS > expiresAtMs;
  }

  /** Refreshes once, whoever else finds the same token spent: many authorization servers end a login if a refresh token is used twice. */
  async #refreshed(
    login: LoginServer,
    { spent, transport, connection }: { spent: string; transport: McpHttp; connection: TokenOptions['connection'] },
  ): Promise<string | null> {
    const { credentials, clock, log } = this.#deps;
    try {
      return await credentials.alone(login, async () => {
        const stored = credentials.read(login);
        if (accessToken(stored) !== spent || typeof stored.tokens?.refresh_token !== 'string') return accessToken(stored);
        const timeout = new AbortController();
        const timer = clock.setTimer(() => timeout.abort(), REFRESH_MS_MAX);
        try {
          const { resource, clientId, clientSecret } = transport.oauth;
          const client = { resource, clientId, clientSecret };
          const tokens = await connection.refreshTokens({ op: 'refreshTokens', url: transport.url, stored, client }, timeout.signal);
          // The user may have logged out meanwhile, or in again.
          await credentials.change(login, (now) => (now.tokens?.refresh_token === stored.tokens?.refresh_token ? { tokens } : null));
        } finally {
          timer.clear();
        }
        return accessToken(credentials.read(login));
      });
    } catch (error) {
      log.warn({ err: error, server: login.name }, 'the login to an MCP server could not be refreshed');
      return spent;
    }
  }
}

function accessToken({ tokens }: StoredCredentials): string | null {
  return typeof tokens?.access_token === 'string' ? tokens.access_token : null;
}
