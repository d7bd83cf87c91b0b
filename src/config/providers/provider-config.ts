/** Programs that run models on the user's machine and need no key. */
export type LocalServer = 'ollama' | 'lmstudio';

/** How to reach a provider: `[model_providers.NAME]` of config.toml, with defaults. */
export interface ProviderConfig {
  id: string;
  /** The display name. */
  name: string;
  /** Null for `scripted` and `embedded`, which use no network. */
  baseUrl: string | null;
  /** The environment variable with the key. Null: no key is sent. */
  envKey: string | null;
  /**
   * Whether the key of the login that is stored in the home is sent, if there is one. It wins over
   * `envKey`.
   */
  usesLogin: boolean;
  /**
   * `scripted`: the responses are those of `script`. `embedded`: the embedded model answers, which
   * does what the user asks.
   */
  wireApi: 'responses' | 'chat' | 'scripted' | 'embedded';
  /**
   * The program behind a built-in local provider, so that errors can say how to start it. Null for
   * other providers.
   */
  localServer: LocalServer | null;
  /**
   * For `scripted`, the absolute path of the script; null if the server was given a model. Null for
   * all others.
   */
  script: string | null;
  httpHeaders: Record<string, string>;
  /** The variables of `env_http_headers` that are not set. Absent: none. */
  unsetVariables?: string[];
  queryParams: Record<string, string>;
  /** The number of retries of a request that got no stream. */
  requestMaxRetries: number;
  /** The number of retries after a stream broke. */
  streamMaxRetries: number;
  /** How long a connection to the provider may take, with TLS. */
  connectTimeoutMs: number;
  /**
   * How long the provider may send nothing, from the start of the request to the end of the stream.
   */
  streamIdleTimeoutMs: number;
}

/** Whether a provider answers without a network. */
export function isOffline({ wireApi }: Pick<ProviderConfig, 'wireApi'>): boolean {
  return wireApi === 'scripted' || wireApi === 'embedded';
}
