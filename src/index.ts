/** The package's `heddle`: the server inside one's own process. */
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { PassThrough } from 'node:stream';
import { createApp } from './app.ts';
import type { Clock } from './base/clock.ts';
import type { Ids } from './base/ids.ts';
import type { Log } from './base/log.ts';
import type { Client } from './client/client.ts';
import type { ClientOptions } from './client/client-options.ts';
import { connect } from './client/connect.ts';
import type { Model } from './model/model.ts';
import type { Transport } from './transport/transport.ts';

export type { Clock, Timer } from './base/clock.ts';
export type { Ids } from './base/ids.ts';
export type { JsonObject, JsonValue } from './base/json-value.ts';
export type { Log, LogMethod } from './base/log.ts';
export type { Model, ModelEvent, ModelRequest, ToolSpec } from './model/model.ts';
export { createScriptedModel, type ScriptedModel, type ScriptedModelOptions } from './model/script/create-scripted-model.ts';
export { ScriptError, type ScriptProblem } from './model/script/script-error.ts';
export type { ModelScript } from './protocol/generated/model-script.ts';
export type * from './protocol/generated/types.ts';
export type { Transport } from './transport/transport.ts';

export interface AppServerOptions {
  /** The folder of config.toml and of the threads. Made when it is needed. */
  home: string;
  /** The folder of threads that name none: this process's, unless given. */
  cwd?: string;
  /** Where keys of providers and the like are looked up: this process's environment, unless given. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Settings over config.toml, as `key=value` texts. */
  overrides?: readonly string[];
  /** A client, which is connected at once. More can come by `connect`. */
  transport?: Transport;
  /** Answers in place of the models that config.toml names. */
  model?: Model;
  /** Time as the server sees it. */
  clock?: Clock;
  /** Makes the ids of threads, turns and items. */
  ids?: Ids;
  /** Where the log goes; nowhere, unless given. pino's loggers fit. */
  log?: Log;
}

export interface AppServer {
  /** A client of this server, without a process or a pipe between them. It ends with either of the two. Throws once this is closed. */
  connectClient(options?: ClientOptions): Client;
  /**
   * Serves a client over streams. Resolves when it is gone and every request it had sent has been answered, or when this is
   * closed; `output` has been ended then. Rejects once this is closed.
   */
  connect(transport: Transport): Promise<void>;
  /**
   * Ends every turn, stores what there is to store, ends every client and gives everything up. Resolves with what models
   * report that check how they were used: nothing, unless a script was not followed. Can be called again.
   */
  close(): Promise<string[]>;
}

/**
 * A server in this process. Nothing is opened before a client needs it; `close()` gives it all back. It keeps the process
 * alive while it answers a request or a turn runs, and not otherwise.
 */
export function createAppServer({ home, cwd, env, log, transport, ...given }: AppServerOptions): AppServer {
  const server = createApp({
    ...given,
    ...installed(),
    home: resolve(home),
    cwd: resolve(cwd ?? '.'),
    env: env ?? process.env,
    log: log ?? silent,
    platform: process.platform,
    pid: process.pid,
    sendSignal: (pid, signal) => process.kill(pid, signal),
    tempDir: tmpdir(),
  });
  let closing: Promise<string[]> | null = null;
  const serve = (client: Transport) => server.connect(client).then(() => void client.output.end());
  if (transport !== undefined) void serve(transport);
  return {
    async connect(client) {
      if (closing !== null) throw new Error(CLOSED);
      await serve(client);
    },
    connectClient(options = {}) {
      if (closing !== null) throw new Error(CLOSED);
      const input = new PassThrough();
      const output = new PassThrough();
      void serve({ input, output });
      return connect({ input: output, output: input, ...options });
    },
    close() {
      closing ??= server.close();
      return closing;
    },
  };
}

const CLOSED = 'the server is closed';

/** What lies in the package, wherever this file was built or bundled to. */
function installed(): { version: string; migrationsDir: string } {
  const require = createRequire(import.meta.url);
  const manifest = require.resolve('heddle/package.json');
  const { version } = require(manifest) as { version: string };
  return { version, migrationsDir: join(dirname(manifest), 'migrations') };
}

const silent: Log = { debug() {}, info() {}, warn() {}, error() {} };
