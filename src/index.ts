/** The package's `heddle`: the server inside your own process. */
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { PassThrough } from 'node:stream';
import { type App, createApp } from './app.ts';
import type { AppParts } from './backend.ts';
import { type Clock, systemClock } from './base/clock.ts';
import { storeFileIn } from './base/files/own-file.ts';
import type { Ids } from './base/ids.ts';
import { type Log, SILENT_LOG } from './base/log.ts';
import type { Client } from './client/client.ts';
import type { ClientOptions } from './client/client-options.ts';
import { connect } from './client/connect.ts';
import { systemDir } from './config/requirements/system-dir.ts';
import { editInThread } from './config/writing/edit-in-thread.ts';
import type { Model } from './model/model.ts';
import { scaleInThread } from './model/pictures/scale-in-thread.ts';
import { createSqliteStore } from './store/sqlite/create-sqlite-store.ts';
import { createWorkerStore } from './store/sqlite/worker/create-worker-store.ts';
import type { StoreThreadOptions } from './store/sqlite/worker/store-thread.ts';
import type { ThreadStore } from './store/thread-store.ts';
import { type StreamPair, streamTransport } from './transport/stream-transport.ts';
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
export type { StreamPair } from './transport/stream-transport.ts';
export type { Transport, TransportEvents } from './transport/transport.ts';

export interface AppServerOptions {
  /** The folder of config.toml and of the threads. Created when it is needed. */
  home: string;
  /** The working directory of threads that name none. By default that of this process. */
  cwd?: string;
  /** The environment variables of the server, such as the providers' keys. By default those of this process. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Settings that override config.toml, as `key=value` strings. */
  overrides?: readonly string[];
  /** A first client, which is connected at once. `connect` adds more. */
  transport?: StreamPair | Transport;
  /** Replaces the models that config.toml names. */
  model?: Model;
  /** The server's clock. By default the system's. */
  clock?: Clock;
  /** The generator of ids for threads, turns and items. By default they are random UUIDs (v7). */
  ids?: Ids;
  /** The server's log. By default nothing is logged. A pino logger fits. */
  log?: Log;
}

export interface AppServer {
  /** Returns a client in this process. It ends when it or the server is closed. Throws if the server is closed. */
  connectClient(options?: ClientOptions): Client;
  /**
   * Serves a client over a pair of streams, or over any other transport of messages. Resolves when the client is gone and all its
   * requests have been answered, or when the server is closed; `output` or the transport has been ended by then. Rejects if the
   * server is already closed.
   */
  connect(transport: StreamPair | Transport): Promise<void>;
  /**
   * Ends all turns, stores their state, ends all connections and releases all resources. Resolves with the reports of scripted
   * models, which are empty unless a script was not followed. Can be called more than once.
   */
  close(): Promise<string[]>;
}

/**
 * Creates a server in this process. It opens nothing before a client needs it, and `close()` releases everything. It keeps the
 * process alive only while a request is open or a turn runs.
 */
export function createAppServer(options: AppServerOptions): AppServer {
  const { home, cwd, env, log = SILENT_LOG, transport, ...given } = options;
  const { root, ...parts } = installed();
  const { pid } = process;
  const files = { file: storeFileIn(resolve(home)), migrationsDir: join(root, 'migrations'), tempDir: tmpdir() };
  const server: App = createApp({
    ...given,
    ...parts,
    home: resolve(home),
    cwd: resolve(cwd ?? '.'),
    env: env ?? process.env,
    log,
    platform: process.platform,
    pid,
    nodeVersions: process.versions,
    systemDir: systemDir(),
    sendSignal: (to, signal) => process.kill(to, signal),
    ...(typeof IS_BUILT === 'undefined' ? {} : { editToml: editInThread(join(root, 'bin', 'load-toml-editor.js')) }),
    ...(typeof IS_BUILT === 'undefined' ? {} : { scalePicture: scaleInThread(join(root, 'bin', 'load-picture-scaler.js')) }),
    ...(typeof IS_BUILT === 'undefined' ? {} : { mcpScript: join(root, 'bin', 'load-mcp.js') }),
    ...(typeof IS_BUILT === 'undefined' ? {} : { proxyScript: join(root, 'bin', 'load-proxies.js') }),
    store: createStore({
      ...files,
      script: join(root, 'bin', 'load-store.js'),
      clock: given.clock ?? systemClock,
      log,
      pid,
      nodeVersions: process.versions,
      onRepaired: (message) => server.warn(message),
      onSilent: (message) => server.warn(message),
    }),
    ...(typeof IS_BUILT === 'undefined' ? {} : { searchScript: join(root, 'bin', 'load-search.js') }),
  });
  let closing: Promise<string[]> | null = null;
  const serve = async (client: StreamPair | Transport) => {
    const carrier = 'listen' in client ? client : streamTransport(client);
    await server.connect(carrier);
    carrier.end();
  };
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

/** The version and the files of the installed package, wherever this file was built or bundled to. */
function installed(): Pick<AppParts, 'version' | 'installation'> & { root: string } {
  const require = createRequire(import.meta.url);
  const manifest = require.resolve('heddle/package.json');
  const { version } = require(manifest) as { version: string };
  return { version, installation: { manifest, executable: process.execPath }, root: dirname(manifest) };
}

/** Inserted by the build, which also makes the scripts of the threads. Missing if the sources run as they are. */
declare const IS_BUILT: true | undefined;

function createStore(options: StoreThreadOptions): ThreadStore {
  return typeof IS_BUILT === 'undefined' ? createSqliteStore(options) : createWorkerStore(options);
}
