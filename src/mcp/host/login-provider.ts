import { randomBytes } from 'node:crypto';
import type {
  OAuthClientInformationContext,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import type { JsonObject } from '../../base/json-value.ts';
import type { CredentialsChange, LoginRequest, StoredCredentials } from '../messages/mcp-host.ts';

/** The credentials of a server, which the main thread keeps. */
export interface CredentialsAccess {
  read(): Promise<StoredCredentials>;
  store(change: CredentialsChange): Promise<void>;
  /** Sends the user to an address. Returns the query of the redirect that follows. */
  authorize(url: string): Promise<string>;
}

const CLIENT_NAME = 'heddle';
/** The key of clients whose authorization server is unknown. */
const NO_ISSUER = '';

/** A login of the user, for the library. */
export class LoginProvider implements OAuthClientProvider {
  clientMetadataUrl?: string;
  validateResourceURL?: (serverUrl: string | URL, resource?: string) => Promise<URL | undefined>;
  readonly #login: LoginRequest;
  readonly #credentials: CredentialsAccess;
  readonly #state = randomBytes(24).toString('base64url');
  /** A login does not begin with earlier tokens. */
  #tokens: StoredOAuthTokens | undefined;
  #address: URL | null = null;
  /** The scopes that were asked for. */
  #scope: string | null = null;
  #verifier = '';
  #discovery: OAuthDiscoveryState | undefined;

  constructor(login: LoginRequest, credentials: CredentialsAccess) {
    this.#login = login;
    this.#credentials = credentials;
    if (login.clientMetadataUrl !== null && login.registration !== 'dcr')
      this.clientMetadataUrl = login.clientMetadataUrl;
    if (login.resource === null) return;
    const resource = new URL(login.resource);
    this.validateResourceURL = async () => resource;
  }

  get redirectUrl(): string {
    return this.#login.redirectUrl;
  }

  get clientMetadata(): OAuthClientMetadata {
    const { redirectUrl, scopes } = this.#login;
    return {
      client_name: CLIENT_NAME,
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      ...(scopes === null || scopes.length === 0 ? {} : { scope: scopes.join(' ') }),
    };
  }

  state(): string {
    return this.#state;
  }

  async clientInformation(
    ctx?: OAuthClientInformationContext,
  ): Promise<StoredOAuthClientInformation | undefined> {
    const { clientId, clientSecret, clientMetadataUrl, registration } = this.#login;
    if (registration === 'cimd' && clientMetadataUrl !== null)
      return { client_id: clientMetadataUrl };
    if (clientId !== null)
      return {
        client_id: clientId,
        ...(clientSecret === null ? {} : { client_secret: clientSecret }),
      };
    const { clients } = await this.#credentials.read();
    const known = clients[ctx?.issuer ?? NO_ISSUER] as StoredOAuthClientInformation | undefined;
    return known !== undefined && this.#fits(known) ? known : undefined;
  }

  /** A client of the configuration is not stored: its secret may come from a variable. */
  async saveClientInformation(
    client: StoredOAuthClientInformation,
    ctx?: OAuthClientInformationContext,
  ): Promise<void> {
    if (this.#login.clientId !== null) return;
    const { clients } = await this.#credentials.read();
    await this.#credentials.store({
      clients: { ...clients, [ctx?.issuer ?? NO_ISSUER]: client as unknown as JsonObject },
    });
  }

  /**
   * Whether a known client is of the kind that is asked for, and may be sent back to this address.
   */
  #fits(client: StoredOAuthClientInformation & { redirect_uris?: string[] }): boolean {
    const { registration, clientMetadataUrl, redirectUrl } = this.#login;
    if (client.redirect_uris === undefined)
      return registration === 'auto' && client.client_id === clientMetadataUrl;
    return client.redirect_uris.includes(redirectUrl);
  }

  tokens(): StoredOAuthTokens | undefined {
    return this.#tokens;
  }

  async saveTokens(tokens: StoredOAuthTokens): Promise<void> {
    this.#tokens = tokens;
    const discovery = (this.#discovery ?? null) as unknown as JsonObject | null;
    // A server that does not say what it granted has granted what was asked for.
    const granted = this.#scope === null ? tokens : { scope: this.#scope, ...tokens };
    await this.#credentials.store({ tokens: granted as unknown as JsonObject, discovery });
  }

  redirectToAuthorization(address: URL): void {
    this.#address = address;
    this.#scope = address.searchParams.get('scope');
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovery = state;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovery;
  }

  async invalidateCredentials(
    scope: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery',
  ): Promise<void> {
    if (scope === 'all' || scope === 'tokens') this.#tokens = undefined;
    if (scope === 'all' || scope === 'discovery') this.#discovery = undefined;
    // The authorization server has forgotten the client: the next login registers another one.
    if (scope === 'all' || scope === 'client') await this.#credentials.store({ clients: {} });
  }

  /** Sends the user to the authorization server. Resolves with the answer. */
  async sendUser(): Promise<URLSearchParams> {
    const address = this.#address;
    if (address === null)
      throw new Error('the server asks for a login, but names no address for it');
    const answer = new URLSearchParams(await this.#credentials.authorize(address.href));
    if (answer.get('state') !== this.#state)
      throw new Error('the answer of the login does not belong to this login');
    return answer;
  }
}
