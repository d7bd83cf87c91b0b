import {
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
import type { RefreshRequest, StoredCredentials } from '../to-host.ts';

/** Gets new tokens for stored ones. Rejects if a person would be needed. `fetch`: for the requests to the authorization server. */
export async function refreshTokens({ url, stored, client }: RefreshRequest, fetch: Fetch): Promise<JsonObject> {
  const provider = new RefreshProvider(stored, client);
  await auth(provider, { serverUrl: new URL(url), fetchFn: fetch });
  if (provider.refreshed === null) throw new UnauthorizedError('the server requires another login');
  const { refresh_token, scope } = stored.tokens ?? {};
  // Servers tell these only if they have changed.
  const kept = { ...(refresh_token !== undefined && { refresh_token }), ...(scope !== undefined && { scope }) };
  return { ...kept, ...(provider.refreshed as unknown as JsonObject) };
}

/** A refresh, for the library. Wherever a person would be needed, it fails. */
class RefreshProvider implements OAuthClientProvider {
  validateResourceURL?: (serverUrl: string | URL, resource?: string) => Promise<URL | undefined>;
  refreshed: StoredOAuthTokens | null = null;
  readonly #stored: StoredCredentials;
  readonly #client: RefreshRequest['client'];
  #isRefused = false;

  constructor(stored: StoredCredentials, client: RefreshRequest['client']) {
    this.#stored = stored;
    this.#client = client;
    const { resource } = client;
    if (resource !== null) this.validateResourceURL = async () => new URL(resource);
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
    const { clientId, clientSecret } = this.#client;
    if (clientId !== null) return { client_id: clientId, ...(clientSecret !== null && { client_secret: clientSecret }) };
    return this.#stored.clients[ctx?.issuer ?? ''] as StoredOAuthClientInformation | undefined;
  }

  tokens(): StoredOAuthTokens | undefined {
    return (this.#isRefused ? undefined : (this.#stored.tokens ?? undefined)) as StoredOAuthTokens | undefined;
  }

  saveTokens(tokens: StoredOAuthTokens): void {
    this.refreshed = tokens;
  }

  /** A refresh token is not sent twice. */
  invalidateCredentials(): void {
    this.#isRefused = true;
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
