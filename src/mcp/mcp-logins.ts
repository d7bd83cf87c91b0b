import type { Clock } from '../base/clock.ts';
import type { Ids } from '../base/ids.ts';
import type { McpHttp, McpServerConfig } from '../config/mcp/mcp-server-config.ts';
import { mcpRequestFailed } from '../protocol/errors/mcp-errors.ts';
import { redact } from '../secrets/redact.ts';
import { redactLikelySecrets } from '../secrets/redact-likely-secrets.ts';
import type { McpServers } from './mcp-servers.ts';
import { McpError } from './messages/mcp-error.ts';
import type { LoginRequest, McpAnswer, McpQuestion } from './messages/mcp-host.ts';
import type { CredentialStore } from './oauth/credential-store.ts';
import type { CallbackOptions, LoginCallback } from './oauth/login-callback.ts';

/** How long the user may take for a login, if the request does not say. */
const LOGIN_MS_DEFAULT = 5 * 60 * 1000;
const LOGIN_MS_MAX = 60 * 60 * 1000;
const OPEN_MAX = 16;

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
  registration: LoginRequest['registration'];
}

/** A login that has begun. */
export interface BegunLogin {
  loginId: string;
  /** The address at which the user logs in. */
  authorizationUrl: string;
  /** Resolves when the login has ended, with what went wrong; null: nothing. Never rejects. */
  ended: Promise<string | null>;
}

interface OpenLogin {
  ending: AbortController;
  ended: Promise<string | null>;
}

/** Logs users in to MCP servers. */
export class McpLogins {
  readonly #deps: McpLoginsDeps;
  /** By server: a login to a server ends the one before. */
  readonly #open = new Map<string, OpenLogin>();

  constructor(deps: McpLoginsDeps) {
    this.#deps = deps;
  }

  /**
   * Begins a login, and returns when it is known where the user logs in. Rejects with an RpcError.
   */
  async begin(options: LoginOptions): Promise<BegunLogin> {
    const { config } = options;
    const key = `${config.name} ${config.transport.url}`;
    const before = this.#open.get(key) ?? null;
    if (before === null && this.#open.size >= OPEN_MAX)
      throw mcpRequestFailed(
        null,
        `${OPEN_MAX} logins are open: finish them first, or try again later`,
      );
    before?.ending.abort(new McpError('cancelled', 'another login to this server has begun'));
    const ending = new AbortController();
    let shown = (_url: string): void => {};
    const address = new Promise<{ url: string }>((resolve) => (shown = (url) => resolve({ url })));
    const ended = this.#run(options, { after: before?.ended, shown, ending }).then(
      () => null,
      (error: unknown) => messageOf(error, config),
    );
    this.#open.set(key, { ending, ended });
    void ended.then(() => {
      if (this.#open.get(key)?.ending === ending) this.#open.delete(key);
    });
    const begun = await Promise.race([address, ended.then((problem) => ({ problem }))]);
    if ('url' in begun)
      return { loginId: this.#deps.ids.next(), authorizationUrl: begun.url, ended };
    if (begun.problem === null)
      throw mcpRequestFailed(null, `the MCP server ${config.name} does not require a login`);
    throw mcpRequestFailed(null, `logging in to ${config.name} failed: ${begun.problem}`);
  }

  /** Ends all logins that are open. */
  close(): void {
    for (const { ending } of this.#open.values())
      ending.abort(new McpError('cancelled', 'the server is being shut down'));
  }

  async #run(
    options: LoginOptions,
    {
      after,
      shown,
      ending,
    }: {
      after: Promise<unknown> | undefined;
      shown: (url: string) => void;
      ending: AbortController;
    },
  ): Promise<void> {
    // It may have the port.
    await after;
    const callback = await openCallback(options.callback);
    const ms = Math.min(options.timeoutMs ?? LOGIN_MS_DEFAULT, LOGIN_MS_MAX);
    const late = () =>
      ending.abort(new McpError('timeout', `nobody logged in within ${ms / 1000} seconds`));
    const timer = this.#deps.clock.setTimer(late, ms);
    try {
      await this.#connect(options, { callback, shown, signal: ending.signal });
    } finally {
      timer.clear();
      callback.close();
    }
  }

  async #connect(
    { config, scopes, registration }: LoginOptions,
    {
      callback,
      shown,
      signal,
    }: { callback: LoginCallback; shown: (url: string) => void; signal: AbortSignal },
  ): Promise<void> {
    const { servers, credentials } = this.#deps;
    const { transport, name } = config;
    const { url, headers, oauth } = transport;
    const answer = async (question: McpQuestion): Promise<McpAnswer> => {
      if (question.kind === 'credentials')
        return { result: credentials.read({ name, url }) as never };
      if (question.kind === 'storeCredentials')
        return { result: (await credentials.change({ name, url }, () => question.change)) ?? null };
      if (question.kind !== 'authorize') return refusal('nobody can be asked during a login');
      if (!/^https?:\/\//i.test(question.url))
        return refusal('the server names no http or https address to log in at');
      const answered = callback.answer(new URL(question.url).searchParams.get('state') ?? '');
      shown(question.url);
      const query = await answered;
      return query === null ? refusal('the login has ended') : { result: query };
    };
    const { clientId, clientSecret, clientMetadataUrl, resource, reachesPrivate } = oauth;
    const login = {
      redirectUrl: callback.redirectUrl,
      scopes: scopes ?? oauth.scopes,
      neededScopes: servers.neededScopes(config),
      ...{ resource, clientId, clientSecret, clientMetadataUrl, reachesPrivate, registration },
    };
    const connection = servers.host.open(
      { type: 'http', url, headers, authentication: login },
      {
        onOutput: () => {},
        onTaken: () => {},
        onQuestion: (_call, question) =>
          answer(question).catch((error: unknown) => refusal(messageOf(error, config))),
        onToolsChanged: () => {},
        onClosed: () => {},
      },
    );
    const aborted = new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as McpError));
      if (signal.aborted) reject(signal.reason as McpError);
    });
    try {
      await Promise.race([connection.connected, aborted]);
    } finally {
      connection.close(new McpError('closed', 'the login has ended'));
    }
    servers.loggedIn(config);
  }
}

function refusal(message: string): McpAnswer {
  return { error: { code: -32600, message } };
}

async function openCallback(options: CallbackOptions): Promise<LoginCallback> {
  // With the HTTP server of Node, which nothing else needs at the start.
  const { LoginCallback: Callback } = await import('./oauth/login-callback.ts');
  try {
    return await Callback.open(options);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new McpError(
      'other',
      `the answer of the login cannot be received on this machine (mcp_oauth_callback_port): ${why}`,
    );
  }
}

function messageOf(error: unknown, { secrets }: McpServerConfig): string {
  return redactLikelySecrets(
    redact(error instanceof Error ? error.message : String(error), secrets),
  );
}
