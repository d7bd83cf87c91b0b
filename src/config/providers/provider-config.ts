/** Programs that run models on the user's own machine, and need no key. */
export type LocalServer = 'ollama' | 'lmstudio';

/** How a model is reached: `[model_providers.NAME]` of config.toml, defaults filled in. */
export interface ProviderConfig {
  id: string;
  /** For people. */
  name: string;
  /** Null for `scripted`, which is not reached over a network. */
  baseUrl: string | null;
  /** The environment variable that holds the key; null: no key is sent. */
  envKey: string | null;
  wireApi: 'responses' | 'chat' | 'scripted';
  /** For a built-in provider on the user's own machine: which program it is, so that errors can say how to start it. */
  localServer: LocalServer | null;
  /** For `scripted`, the absolute path of the script; null: it does what users ask for. */
  script: string | null;
  httpHeaders: Record<string, string>;
  queryParams: Record<string, string>;
  /** How often a request that got no stream is tried again. */
  requestMaxRetries: number;
  /** How often a stream that broke is asked for again. */
  streamMaxRetries: number;
  /** How long the provider may be silent, from the request's first byte to the stream's end. */
  streamIdleTimeoutMs: number;
}
