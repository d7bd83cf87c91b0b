import {
  type AuthProvider,
  auth,
  type OAuthClientInformationContext,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import type { Fetch } from '../../base/http/create-fetch.ts';
import type { JsonObject } from '../../base/json-value.ts';
import type { StoredCredentials } from '../to-host.ts';
import { type CredentialsAccess, storedTokens } from './login-provider.ts';

/** A token that ends within this time is refreshed before it is used. */
const REFRESH_BEFORE_MS = 60_000;

/** The tokens of an earlier login. They are refreshed before they end, and if the server refuses them. The user is not asked. */
export class StoredTokens implements AuthProvider {
  readonly #serverUrl: URL;
  readonly #credentials: CredentialsAccess;
  readonly #fetch: Fetch;
  /** Requests at the same time refresh once: a refresh token may be used once. */
  #refreshing: Promise<void> | null = null;

  constructor(serverUrl: URL, credentials: CredentialsAccess, fetch: Fetch) {
    this.#serverUrl = serverUrl;
    this.#credentials = credentials;
    this.#fetch = fetch;
  }

  async token(): Promise<string | undefined> {
    const { tokens, expiresAtMs } = await this.#credentials.read();
    const isEnding = expiresAtMs !== null && endsBy(Date.now() + REFRESH_BEFORE_MS, expiresAtMs);
    if (!isEnding || typeof tokens?.refresh_token !== 'string') return accessToken(tokens);
    // A refresh that fails is found out by the request: the token may still be good.
    await this.#refresh().catch(() => {});
    return accessToken((await this.#credentials.read()).tokens);
  }

  async onUnauthorized(): Promise<void> {
    const { tokens } = await this.#credentials.read();
    if (typeof tokens?.refresh_token !== 'string') throw new UnauthorizedError('the server requires a login');
    await this.#refresh();
  }

  #refresh(): Promise<void> {
    this.#refreshing ??= this.#refreshNow().finally(() => {
      this.#refreshing = null;
    });
    return this.#refreshing;
  }

  async #refreshNow(): Promise<void> {
    const provider = new RefreshProvider(await this.#credentials.read(), this.#credentials);
    await auth(provider, { serverUrl: this.#serverUrl, fetchFn: this.#fetch });
  }
}

/** Whether a token ends until then. Authorization servers and this machine have clocks of their own, so that is a wall clock's time. */
function endsBy(timeMs: number, expiryMs: number): boolean {
  return timeMs > expiryMs;
}

function accessToken(tokens: JsonObject | null): string | undefined {
  return typeof tokens?.access_token === 'string' ? tokens.access_token : undefined;
}

/** Refreshes stored tokens, for the library. Wherever a person would be needed, it fails. */
class RefreshProvider implements OAuthClientProvider {
  readonly #stored: StoredCredentials;
  readonly #credentials: CredentialsAccess;

  constructor(stored: StoredCredentials, credentials: CredentialsAccess) {
    this.#stored = stored;
    this.#credentials = credentials;
  }

  get redirectUrl(): string {
    const [client] = Object.values(this.#stored.clients);
    const uris = client?.redirect_uris;
    return Array.isArray(uris) && typeof uris[0] === 'string' ? uris[0] : 'http://127.0.0.1/callback';
  }

  get clientMetadata(): OAuthClientMetadata {
    return { redirect_uris: [this.redirectUrl] };
  }

  clientInformation(ctx?: OAuthClientInformationContext): StoredOAuthClientInformation | undefined {
    const { clients } = this.#stored;
    return (clients[ctx?.issuer ?? ''] ?? Object.values(clients)[0]) as StoredOAuthClientInformation | undefined;
  }

  tokens(): StoredOAuthTokens | undefined {
    return (this.#stored.tokens ?? undefined) as StoredOAuthTokens | undefined;
  }

  async saveTokens(tokens: StoredOAuthTokens): Promise<void> {
    // Some servers send a new refresh token only if the old one has ended.
    const old = this.#stored.tokens?.refresh_token;
    const kept = { ...(typeof old === 'string' ? { refresh_token: old } : {}), ...tokens };
    await this.#credentials.store(storedTokens(kept));
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return (this.#stored.discovery ?? undefined) as unknown as OAuthDiscoveryState | undefined;
  }

  redirectToAuthorization(): never {
    throw new UnauthorizedError('the server requires another login');
  }

  saveCodeVerifier(): void {}

  codeVerifier(): string {
    return '';
  }
}
