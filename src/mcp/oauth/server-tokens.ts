import type { Clock } from '../../base/clock.ts';
import type { JsonObject } from '../../base/json-value.ts';
import type { Log } from '../../base/log.ts';
import type { McpHttp, McpServerConfig } from '../../config/mcp/mcp-server-config.ts';
import { longestFirst, redact } from '../../secrets/redact.ts';
import { McpError } from '../messages/mcp-error.ts';
import type { McpAnswer, RefreshRequest, StoredCredentials } from '../messages/mcp-host.ts';
import type { CredentialStore, LoginServer } from './credential-store.ts';

/** A token that ends within this time is refreshed before it is used. */
const REFRESH_BEFORE_MS = 60_000;
/** How long a refresh may take. */
const REFRESH_MS_MAX = 30_000;
/** How many tokens of a login are remembered: a call may end after its token was replaced. */
const GIVEN_MAX = 3;
/** How long a token that could not be refreshed is used as it is, unless the server refuses it. */
const FAILED_MS = 60_000;

interface ServerTokensDeps {
  credentials: CredentialStore;
  clock: Clock;
  log: Log;
  /** Gets other tokens. Rejects with an McpError. */
  refresh(request: RefreshRequest, signal: AbortSignal): Promise<JsonObject>;
}

/** A refresh that runs, or has failed. */
interface Refresh {
  /** The access token that it replaces. */
  spent: string;
  /** Resolves with the access token that is valid then; null: the user has logged out. */
  token: Promise<string | null>;
  /** When it failed, in monotonic milliseconds. */
  failedMs: number | null;
}

/**
 * The bearer tokens for servers that are reached by HTTP: those of the configuration, and those of
 * logins.
 */
export class ServerTokens {
  readonly #deps: ServerTokensDeps;
  /** The last one of each login, unless it has succeeded. */
  readonly #refreshes = new Map<string, Refresh>();
  /** The last tokens of each login. */
  readonly #given = new Map<string, readonly string[]>();

  constructor(deps: ServerTokensDeps) {
    this.#deps = deps;
  }

  /**
   * Answers with the token for the next request; null: there is none. The tokens of a login are
   * refreshed before they end, and if the server refuses them. If that fails before they end, the
   * old token stays in use. `refused`: the token that the server did not take; empty: it did not
   * take a request without one; null: no request has been sent.
   */
  async answer(
    { name, transport }: Pick<McpServerConfig, 'name' | 'transport'>,
    refused: string | null,
  ): Promise<McpAnswer> {
    if (transport.type !== 'http') return { result: null };
    try {
      if (transport.bearerTokenVariable !== null) return { result: transport.bearerToken };
      const token = await this.#ofLogin(name, transport, refused);
      if (token !== null) this.#give(keyOf({ name, url: transport.url }), token);
      return { result: token };
    } catch (error) {
      return { error: { code: -32603, message: messageOf(error) } };
    }
  }

  /** The last tokens that servers got by this login. */
  given({ name, transport }: Pick<McpServerConfig, 'name' | 'transport'>): readonly string[] {
    return transport.type === 'http'
      ? (this.#given.get(keyOf({ name, url: transport.url })) ?? [])
      : [];
  }

  /**
   * Rejects if the logins cannot be read, or if a token that was refused cannot be refreshed for
   * now.
   */
  async #ofLogin(name: string, transport: McpHttp, refused: string | null): Promise<string | null> {
    const login = { name, url: transport.url };
    const stored = this.#deps.credentials.read(login);
    const token = accessToken(stored);
    if (token === null || (token !== refused && !this.#isEnding(stored))) return token;
    if (typeof stored.tokens?.refresh_token !== 'string') return token === refused ? null : token;
    if (token !== refused && this.#hasFailed(login, token)) return token;
    try {
      const refreshed = await this.#refreshed(login, token, transport);
      return refreshed === refused ? null : refreshed;
    } catch (error) {
      if (token !== refused) return token;
      if (error instanceof McpError && error.kind === 'unauthorized') return null;
      throw new Error(`the login could not be refreshed: ${messageOf(error)}`, { cause: error });
    }
  }

  #give(key: string, token: string): void {
    const before = (this.#given.get(key) ?? []).filter((each) => each !== token);
    this.#given.set(key, [token, ...before].slice(0, GIVEN_MAX));
  }

  #isEnding({ expiresAtMs }: StoredCredentials): boolean {
    return expiresAtMs !== null && this.#deps.clock.now() + REFRESH_BEFORE_MS > expiresAtMs;
  }

  /** Whether a refresh of this token has failed a short time ago. */
  #hasFailed(login: LoginServer, token: string): boolean {
    const last = this.#refreshes.get(keyOf(login));
    return (
      last?.spent === token &&
      last.failedMs !== null &&
      this.#deps.clock.monotonic() - last.failedMs < FAILED_MS
    );
  }

  /** All that find the same token spent share one refresh. */
  #refreshed(login: LoginServer, spent: string, transport: McpHttp): Promise<string | null> {
    const key = keyOf(login);
    const running = this.#refreshes.get(key);
    if (running?.spent === spent && running.failedMs === null) return running.token;
    const refresh: Refresh = {
      spent,
      failedMs: null,
      token: this.#refresh(login, spent, transport),
    };
    this.#refreshes.set(key, refresh);
    refresh.token.then(
      () => {
        if (this.#refreshes.get(key) === refresh) this.#refreshes.delete(key);
      },
      (error: unknown) => {
        refresh.failedMs = this.#deps.clock.monotonic();
        this.#deps.log.warn(
          { problem: messageOf(error), server: login.name },
          'the login to an MCP server could not be refreshed',
        );
      },
    );
    return refresh.token;
  }

  /**
   * Refreshes once, also if another process finds the same token spent: many authorization servers
   * end a login if a refresh token is used twice. So it goes on, and its result is stored, even if
   * the connection that needs it ends.
   */
  #refresh(login: LoginServer, spent: string, transport: McpHttp): Promise<string | null> {
    const { credentials } = this.#deps;
    return credentials.alone(login, async () => {
      const stored = credentials.read(login);
      if (accessToken(stored) !== spent || typeof stored.tokens?.refresh_token !== 'string')
        return accessToken(stored);
      const tokens = await this.#newTokens(stored, transport);
      // The user may have logged out meanwhile, or in again.
      await credentials.change(login, (now) =>
        now.tokens?.refresh_token === stored.tokens?.refresh_token ? { tokens } : null,
      );
      return accessToken(credentials.read(login));
    });
  }

  async #newTokens(stored: StoredCredentials, { url, oauth }: McpHttp): Promise<JsonObject> {
    const { clock, refresh } = this.#deps;
    const timeout = new AbortController();
    const timer = clock.setTimer(() => timeout.abort(), REFRESH_MS_MAX);
    const { resource, clientId, clientSecret, reachesPrivate } = oauth;
    try {
      return await refresh(
        { url, stored, client: { resource, clientId, clientSecret, reachesPrivate } },
        timeout.signal,
      );
    } catch (error) {
      if (timeout.signal.aborted)
        throw new McpError(
          'timeout',
          `the authorization server did not answer within ${REFRESH_MS_MAX / 1000} seconds`,
        );
      if (!(error instanceof McpError)) throw error;
      const secrets = [stored.tokens?.access_token, stored.tokens?.refresh_token, clientSecret];
      const known = secrets.filter((secret) => typeof secret === 'string');
      throw new McpError(error.kind, redact(error.message, longestFirst(known)), error);
    } finally {
      timer.clear();
    }
  }
}

function keyOf({ name, url }: LoginServer): string {
  return `${name} ${url}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function accessToken({ tokens }: StoredCredentials): string | null {
  return typeof tokens?.access_token === 'string' ? tokens.access_token : null;
}
