import { type AuthProvider, UnauthorizedError } from '@modelcontextprotocol/client';
import { createFetch, type Fetch } from '../../base/http/create-fetch.ts';
import type { JsonValue } from '../../base/json-value.ts';
import type {
  HostedServer,
  LoginRequest,
  McpQuestion,
  StoredCredentials,
} from '../messages/mcp-host.ts';
import type { LoginTarget, LoginWeb } from '../oauth/login-web.ts';
import { HttpTransport } from './http-transport.ts';
import type { CredentialsAccess } from './login-provider.ts';
import { MESSAGE_BYTES_MAX, MESSAGE_PARTS_MAX } from './pipe-transport.ts';
import { UserLogin } from './user-login.ts';

/** A server that is reached by HTTP. */
export type HttpServer = Extract<HostedServer, { type: 'http' }>;

/** The connection that requests are for. */
interface AskingConnection {
  readonly isClosed: boolean;
  /** Aborts at its end. */
  readonly closing: AbortSignal;
  /** The signal of the call in whose course a message is sent. */
  readonly callSignal: AbortSignal | undefined;
  /** Asks the main thread for what the connection itself needs. Rejects if it is closed. */
  ask(question: McpQuestion): Promise<JsonValue>;
}

/**
 * Of a response of an authorization server. The library's schemas make an error for each value that
 * is not as it should be.
 */
export const AUTHORIZATION_LIMITS = { bytesMax: 256 * 1024, partsMax: 10_000 };
const RETRY = {
  initialReconnectionDelay: 1000,
  maxReconnectionDelay: 30_000,
  reconnectionDelayGrowFactor: 1.5,
  maxRetries: 5,
};

/** The HTTP of a connection: its transport, with tokens or a login of the user. */
export class ServerHttp {
  readonly #server: HttpServer;
  readonly #web: LoginWeb;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #connection: AskingConnection;
  /** The bearer token of the request for each response; empty: it had none. */
  readonly #sentTokens = new WeakMap<Response, string>();

  constructor(
    server: HttpServer,
    { web, clientVersion }: { web: LoginWeb; clientVersion: string },
    connection: AskingConnection,
  ) {
    this.#server = server;
    this.#web = web;
    this.#headers = { 'user-agent': `heddle/${clientVersion}` };
    this.#connection = connection;
  }

  /** `user`: logs in. Otherwise there may be tokens. */
  transport(user: AuthProvider | null): HttpTransport {
    const { url, headers, authentication } = this.#server;
    const authProvider = user ?? (authentication === 'token' ? this.#tokens() : null);
    return new HttpTransport(new URL(url), {
      requestInit: { headers: { ...headers } },
      reconnectionOptions: RETRY,
      ...(authProvider !== null && { authProvider }),
      onInsufficientScope: 'throw',
      fetch: this.#notingFetch(),
      callSignal: () => this.#connection.callSignal,
    });
  }

  /** A login of the user, who is sent to the authorization server. */
  userLogin(login: LoginRequest): UserLogin {
    const { url } = this.#server;
    const target = { url, reachesPrivate: login.reachesPrivate };
    return new UserLogin(new URL(url), login, {
      credentials: this.#credentials(target),
      fetch: this.#loginFetch(target),
    });
  }

  #credentials(target: LoginTarget): CredentialsAccess {
    const connection = this.#connection;
    return {
      read: async () =>
        (await connection.ask({ kind: 'credentials' })) as unknown as StoredCredentials,
      store: async (change) => void (await connection.ask({ kind: 'storeCredentials', change })),
      authorize: async (address) => {
        await this.#web.checkShown(target, address);
        return String(await connection.ask({ kind: 'authorize', url: address }));
      },
    };
  }

  /** Notes the token of each request. */
  #notingFetch(): Fetch {
    const send = createFetch(this.#web.web, {
      bytesMax: MESSAGE_BYTES_MAX,
      partsMax: MESSAGE_PARTS_MAX,
      headers: this.#headers,
    });
    return async (address, init) => {
      const response = await send(address, init);
      const authorization = new Headers(init?.headers).get('authorization') ?? '';
      this.#sentTokens.set(response, authorization.replace(/^bearer /i, ''));
      return response;
    };
  }

  /** For requests to the authorization server, which the library sends without a signal. */
  #loginFetch(target: LoginTarget): Fetch {
    const options = { ...AUTHORIZATION_LIMITS, headers: this.#headers };
    const send = this.#web.loginFetch(target, options);
    return (address, init) => send(address, { ...init, signal: this.#connection.closing });
  }

  /** Bearer tokens come from the main thread, which also knows how to get another one. */
  #tokens(): AuthProvider {
    let last = '';
    const ask = async (refused: string | null) => {
      const token = await this.#connection.ask({ kind: 'token', refused });
      last = typeof token === 'string' ? token : '';
      return last;
    };
    return {
      // The main thread has forgotten a connection that is closed: its last request ends the
      // session.
      token: async () => (this.#connection.isClosed ? last : await ask(null)) || undefined,
      onUnauthorized: async ({ response }) => {
        // A request that was sent at the same time may have got another token meanwhile.
        if ((await ask(this.#sentTokens.get(response) ?? last)) === '')
          throw new UnauthorizedError('the server requires a login');
      },
    };
  }
}
