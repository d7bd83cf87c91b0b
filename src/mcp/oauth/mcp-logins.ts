import type { Clock } from '../../base/clock.ts';
import type { Ids } from '../../base/ids.ts';
import type { McpHttp, McpServerConfig } from '../../config/mcp/mcp-server-config.ts';
import { redact } from '../../secrets/redact.ts';
import { redactLikelySecrets } from '../../secrets/redact-likely-secrets.ts';
import { McpError } from '../mcp-error.ts';
import type { McpServers } from '../mcp-servers.ts';
import type { McpAnswer, McpQuestion } from '../to-host.ts';
import type { CredentialStore } from './credential-store.ts';
import type { CallbackOptions, LoginCallback } from './login-callback.ts';

/** How long the user may take for a login, if the request does not say. */
const LOGIN_MS_DEFAULT = 5 * 60 * 1000;
const LOGIN_MS_MAX = 60 * 60 * 1000;

export interface McpLoginsDeps {
  servers: McpServers;
  credentials: CredentialStore;
  clock: Clock;
  ids: Ids;
}

export interface LoginOptions {
  config: McpServerConfig & { transport: McpHttp };
  callback: CallbackOptions;
  /** Null: those of the configuration, else those that the server asks for. */
  scopes: readonly string[] | null;
  timeoutMs: number | null;
  /** `cimd`: by the document that describes the client; `dcr`: by registering it; `auto`: by whichever there is. */
  registration: 'auto' | 'cimd' | 'dcr';
}

/** A login that has begun. */
export interface BegunLogin {
  loginId: string;
  /** Where the user logs in. */
  authorizationUrl: string;
  /** Resolves when the login has ended, with what went wrong; null: nothing. Never rejects. */
  ended: Promise<string | null>;
}

/** Logs users in to MCP servers. */
export class McpLogins {
  readonly #deps: McpLoginsDeps;
  readonly #open = new Set<AbortController>();

  constructor(deps: McpLoginsDeps) {
    this.#deps = deps;
  }

  /** Begins a login, and returns when it is known where the user logs in. Rejects with an McpError. */
  async begin(options: LoginOptions): Promise<BegunLogin> {
    const callback = await openCallback(options.callback);
    const ending = new AbortController();
    this.#open.add(ending);
    const ms = Math.min(options.timeoutMs ?? LOGIN_MS_DEFAULT, LOGIN_MS_MAX);
    const timer = this.#deps.clock.setTimer(
      () => ending.abort(new McpError('timeout', `nobody logged in within ${ms / 1000} seconds`)),
      ms,
    );
    let shown = (_url: string): void => {};
    const address = new Promise<string>((resolve) => (shown = resolve));
    const done = this.#connect(options, { callback, shown, signal: ending.signal }).finally(() => {
      timer.clear();
      callback.close();
      this.#open.delete(ending);
    });
    const ended = done.then(
      () => null,
      (error: unknown) => messageOf(error, options.config),
    );
    const url = await Promise.race([address, ended]);
    if (url === null) throw new McpError('other', `the MCP server ${options.config.name} asks nobody to log in`);
    if (!/^https?:/.test(url)) throw new McpError('other', `logging in to ${options.config.name} failed: ${url}`);
    return { loginId: this.#deps.ids.next(), authorizationUrl: url, ended };
  }

  /** Ends all logins that are open. */
  close(): void {
    for (const ending of this.#open) ending.abort(new McpError('cancelled', 'the server is being shut down'));
  }

  async #connect(
    { config, scopes, registration }: LoginOptions,
    { callback, shown, signal }: { callback: LoginCallback; shown: (url: string) => void; signal: AbortSignal },
  ): Promise<void> {
    const { servers, credentials } = this.#deps;
    const { transport, name } = config;
    const { url, headers, oauth } = transport;
    const answer = async (question: McpQuestion): Promise<McpAnswer> => {
      if (question.kind === 'credentials') return { result: credentials.read({ name, url }) as never };
      if (question.kind === 'storeCredentials') return { result: (await credentials.change({ name, url }, question.change)) ?? null };
      if (question.kind !== 'authorize') return { error: { code: -32600, message: 'nobody can be asked in the course of a login' } };
      const answered = callback.answer(new URL(question.url).searchParams.get('state') ?? '');
      shown(question.url);
      return { result: await answered };
    };
    const connection = servers.host.open(
      {
        type: 'http',
        url,
        headers,
        authentication: {
          redirectUrl: callback.redirectUrl,
          scopes: scopes ?? oauth.scopes,
          neededScopes: servers.neededScopes(config),
          resource: oauth.resource,
          clientId: oauth.clientId,
          clientSecret: oauth.clientSecret,
          clientMetadataUrl: registration === 'dcr' ? null : oauth.clientMetadataUrl,
        },
      },
      {
        onOutput: () => {},
        onTaken: () => {},
        onQuestion: (_call, question) => answer(question),
        onToolsChanged: () => {},
        onClosed: () => {},
      },
    );
    const aborted = new Promise<never>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as McpError)));
    try {
      await Promise.race([connection.connected, aborted]);
    } finally {
      connection.close(new McpError('closed', 'the login has ended'));
    }
    servers.loggedIn(config);
  }
}

async function openCallback(options: CallbackOptions): Promise<LoginCallback> {
  // With the HTTP server of Node, which nothing else needs at the start.
  const { LoginCallback: Callback } = await import('./login-callback.ts');
  try {
    return await Callback.open(options);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new McpError('other', `the answer of the login cannot be received on this machine (mcp_oauth_callback_port): ${why}`);
  }
}

function messageOf(error: unknown, { secrets }: McpServerConfig): string {
  return redactLikelySecrets(redact(error instanceof Error ? error.message : String(error), secrets));
}
