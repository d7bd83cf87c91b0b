import {
  type AuthProvider,
  auth,
  extractWWWAuthenticateParams,
} from '@modelcontextprotocol/client';
import type { Fetch } from '../../base/http/create-fetch.ts';
import type { LoginRequest } from '../messages/mcp-host.ts';
import { type CredentialsAccess, LoginProvider } from './login-provider.ts';

type Unauthorized = Parameters<NonNullable<AuthProvider['onUnauthorized']>>[0];

interface UserLoginDeps {
  credentials: CredentialsAccess;
  /** For the requests to the authorization server. */
  fetch: Fetch;
}

/** The facts of a login that the server wants. */
interface Challenge {
  resourceMetadataUrl?: URL | undefined;
  scope?: string | undefined;
}

/** Logs the user in to a server, once: the user is sent to the authorization server. */
export class UserLogin implements AuthProvider {
  readonly #url: URL;
  readonly #login: LoginRequest;
  readonly #deps: UserLoginDeps;
  readonly #provider: LoginProvider;
  #hasBegun = false;

  constructor(url: URL, login: LoginRequest, deps: UserLoginDeps) {
    this.#url = url;
    this.#login = login;
    this.#deps = deps;
    this.#provider = new LoginProvider(login, deps.credentials);
  }

  async token(): Promise<string | undefined> {
    return this.#provider.tokens()?.access_token;
  }

  async onUnauthorized({ response }: Unauthorized): Promise<void> {
    if (this.#hasBegun) throw new Error('the server refuses the token of this login');
    await this.#logIn(extractWWWAuthenticateParams(response));
  }

  /** Logs in if the server has not asked for it. Rejects if the login fails. */
  async complete(): Promise<void> {
    if (!this.#hasBegun) await this.#logIn({});
  }

  async #logIn({ resourceMetadataUrl, scope }: Challenge): Promise<void> {
    this.#hasBegun = true;
    const wanted = (await this.#wantedScopes()) || scope;
    const options = { serverUrl: this.#url, fetchFn: this.#deps.fetch };
    const told = {
      ...(resourceMetadataUrl && { resourceMetadataUrl }),
      ...(wanted && { scope: wanted }),
    };
    await auth(this.#provider, { ...options, ...told, forceReauthorization: true });
    const answer = await this.#provider.sendUser();
    const code = answer.get('code');
    if (code === null) throw new Error(`the login was refused: ${reasonIn(answer)}`);
    const iss = answer.get('iss');
    await auth(this.#provider, {
      ...options,
      authorizationCode: code,
      ...(iss !== null && { iss }),
    });
  }

  /**
   * Scopes that the server has asked for since come on top of those of the last login. Empty: the
   * server decides.
   */
  async #wantedScopes(): Promise<string> {
    const { scopes, neededScopes } = this.#login;
    if (neededScopes.length === 0) return (scopes ?? []).join(' ');
    const { tokens } = await this.#deps.credentials.read();
    const granted = typeof tokens?.scope === 'string' ? tokens.scope.split(' ') : [];
    return [...new Set([...granted, ...(scopes ?? []), ...neededScopes])].join(' ');
  }
}

/** Why the user was sent back without a code. */
function reasonIn(answer: URLSearchParams): string {
  const given = [answer.get('error'), answer.get('error_description')].filter(
    (text) => text !== null && text !== '',
  );
  return given.length === 0 ? 'no reason was given' : given.join(': ');
}
