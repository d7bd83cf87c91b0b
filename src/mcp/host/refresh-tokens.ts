import {
  AuthorizationServerMismatchError,
  auth,
  type OAuthClientInformationContext,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  OAuthError,
  OAuthErrorCode,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import type { Fetch } from '../../base/http/create-fetch.ts';
import type { JsonObject } from '../../base/json-value.ts';
import type { RefreshRequest, StoredCredentials } from '../messages/mcp-host.ts';

/** The errors of an authorization server that may pass by themselves. */
const PASSING: ReadonlySet<string> = new Set([
  OAuthErrorCode.ServerError,
  OAuthErrorCode.TemporarilyUnavailable,
  OAuthErrorCode.TooManyRequests,
]);

/**
 * Gets new tokens for stored ones. Rejects with an UnauthorizedError if a person has to log in
 * again, and with another error if the authorization server did not answer, or has failed. `fetch`:
 * for the requests to it.
 */
export async function refreshTokens(
  { url, stored, client }: RefreshRequest,
  fetch: Fetch,
): Promise<JsonObject> {
  const provider = new RefreshProvider(stored, client);
  const serverUrl = new URL(url);
  try {
    await auth(provider, {
      serverUrl,
      fetchFn: (address, init) => provider.watched(fetch, address, init),
    });
  } catch (error) {
    throw isRefusal(error) ? loginRequired() : error;
  }
  if (provider.refreshed === null) throw loginRequired();
  const { refresh_token, scope } = stored.tokens ?? {};
  // Servers tell these only if they have changed.
  const kept = {
    ...(refresh_token !== undefined && { refresh_token }),
    ...(scope !== undefined && { scope }),
  };
  return { ...kept, ...(provider.refreshed as unknown as JsonObject) };
}

function isRefusal(error: unknown): boolean {
  return (
    error instanceof AuthorizationServerMismatchError ||
    (error instanceof OAuthError && !PASSING.has(error.code))
  );
}

function loginRequired(): UnauthorizedError {
  return new UnauthorizedError('the server requires another login');
}

/** A refresh, for the library. Wherever a person would be needed, it fails. */
class RefreshProvider implements OAuthClientProvider {
  validateResourceURL?: (serverUrl: string | URL, resource?: string) => Promise<URL | undefined>;
  refreshed: StoredOAuthTokens | null = null;
  readonly #stored: StoredCredentials;
  readonly #client: RefreshRequest['client'];
  #isRefused = false;
  #isSent = false;
  /** How the last request to the authorization server failed. */
  #failure: unknown = 'its answer is not valid';

  constructor(stored: StoredCredentials, client: RefreshRequest['client']) {
    this.#stored = stored;
    this.#client = client;
    const { resource } = client;
    if (resource !== null) this.validateResourceURL = async () => new URL(resource);
  }

  get redirectUrl(): string {
    const [client] = Object.values(this.#stored.clients);
    const uris = client?.redirect_uris;
    return Array.isArray(uris) && typeof uris[0] === 'string'
      ? uris[0]
      : 'http://127.0.0.1/callback';
  }

  get clientMetadata(): OAuthClientMetadata {
    return { redirect_uris: [this.redirectUrl] };
  }

  clientInformation(ctx?: OAuthClientInformationContext): StoredOAuthClientInformation {
    const { clientId, clientSecret } = this.#client;
    if (clientId !== null)
      return { client_id: clientId, ...(clientSecret !== null && { client_secret: clientSecret }) };
    const known = this.#stored.clients[ctx?.issuer ?? ''] as
      | StoredOAuthClientInformation
      | undefined;
    if (known === undefined) throw loginRequired();
    return known;
  }

  tokens(): StoredOAuthTokens | undefined {
    return (this.#isRefused ? undefined : (this.#stored.tokens ?? undefined)) as
      | StoredOAuthTokens
      | undefined;
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

  /** The library calls it when it is about to send the refresh token. */
  scopeForRefresh(): undefined {
    this.#isSent = true;
  }

  /**
   * The library also sends the user to log in if the authorization server has failed. It does not
   * say how.
   */
  redirectToAuthorization(): never {
    if (this.#isRefused || !this.#isSent) throw loginRequired();
    throw new Error('the authorization server gave no new tokens', { cause: this.#failure });
  }

  /** Sends a request, and notes how it failed. */
  async watched(send: Fetch, ...[address, init]: Parameters<Fetch>): Promise<Response> {
    try {
      const response = await send(address, init);
      if (!response.ok) this.#failure = `HTTP ${response.status}`;
      return response;
    } catch (error) {
      this.#failure = error;
      throw error;
    }
  }

  saveCodeVerifier(): void {}

  codeVerifier(): string {
    return '';
  }
}
