/** The package's `heddle`: the server inside your own process. */
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { PassThrough } from 'node:stream';
import { type App, createApp } from './app.ts';
import { systemClock } from './base/clock.ts';
import { storeFileIn } from './base/files/own-file.ts';
import { isObject, type JsonObject } from './base/json-value.ts';
import { type Log, SILENT_LOG } from './base/log.ts';
import { isFolder } from './base/paths/is-folder.ts';
import { KIND, requireOptions } from './base/text/require-options.ts';
import type { Client } from './client/client.ts';
import type { ClientOptions } from './client/client-options.ts';
import { connect } from './client/connect.ts';
import { requireClientOptions } from './client/require-client-options.ts';
import { flagsLayer, type Overrides, optionLayer } from './config/layers/request-layer.ts';
import { layerProblem } from './config/overrides-problem.ts';
import { systemDir } from './config/requirements/system-dir.ts';
import { tomlOf } from './config/toml/toml.ts';
import { createDeterministic } from './deterministic/create-deterministic.ts';
import type { Model } from './model/model.ts';
import { namesScriptFile } from './model/script/names-script-file.ts';
import type { AppParts } from './services/app-parts.ts';
import { createSqliteStore } from './store/sqlite/create-sqlite-store.ts';
import type { DatabasePlaces } from './store/sqlite/database/open-database.ts';
import { createWorkerStore } from './store/sqlite/worker/create-worker-store.ts';
import type { RemoteStoreOptions } from './store/sqlite/worker/remote-store.ts';
import type { ThreadStore } from './store/thread-store.ts';
import { type StreamPair, streamTransport } from './transport/stream-transport.ts';
import type { Transport } from './transport/transport.ts';

export type { Clock, Timer } from './base/clock.ts';
export type { JsonObject, JsonValue } from './base/json-value.ts';
export type { Log, LogMethod } from './base/log.ts';
export type { Model, ModelEvent, ModelRequest, ToolSpec } from './model/model.ts';
export {
  createScriptedModel,
  type ScriptedModel,
  type ScriptedModelOptions,
} from './model/script/create-scripted-model.ts';
export { ScriptError, type ScriptProblem } from './model/script/script-error.ts';
export type { ErrorCode } from './protocol/generated/error-code.ts';
export type { ModelScript } from './protocol/generated/model-script.ts';
export type * from './protocol/generated/types.ts';
export type { StreamPair } from './transport/stream-transport.ts';
export type { Transport, TransportEvents } from './transport/transport.ts';

export interface AppServerOptions {
  /** The folder of config.toml and of the threads. Created when it is needed. */
  home: string;
  /** The working directory of threads that name none. By default that of this process. */
  cwd?: string;
  /**
   * The environment variables of the server, such as the providers' keys. By default those of this
   * process.
   */
  env?: Readonly<Record<string, string | undefined>>;
  /**
   * Settings that override config.toml: an object such as `{ model: 'x', sandbox_workspace_write: {
   * network_access: true } }`, whose keys at the top may be dotted, or `key=value` strings as those
   * of `-c`.
   */
  overrides?: readonly string[] | JsonObject;
  /** A first client, which is connected at once. `connect` adds more. */
  transport?: StreamPair | Transport;
  /** Replaces the models that config.toml names. */
  model?: Model;
  /**
   * True: as with `--deterministic`, the clock is simulated, ids count up, the model is `model` or
   * the embedded one, and nothing is stored after `close()`. So the same messages get the same
   * responses and notifications. Default: false.
   */
  deterministic?: boolean;
  /** The server's log. By default nothing is logged. A pino logger fits. */
  log?: Log;
}

export interface AppServer {
  /**
   * Returns a client in this process. It ends when it or the server is closed. Throws if the server
   * is closed.
   */
  connectClient(options?: ClientOptions): Client;
  /**
   * Serves a client over a pair of streams, or over any other transport of messages. Resolves when
   * the client is gone and all its requests have been answered, or when the server is closed;
   * `output` or the transport has been ended by then. Rejects if the server is already closed.
   */
  connect(transport: StreamPair | Transport): Promise<void>;
  /**
   * Ends all turns, stores their state, ends all connections and releases all resources. Resolves
   * with the reports of scripted models, which are empty unless a script was not followed. Can be
   * called more than once.
   */
  close(): Promise<string[]>;
}

/**
 * Creates a server in this process. It opens nothing before a client needs it, and `close()`
 * releases everything. It keeps the process alive only while a request is open or a turn runs.
 * Throws a TypeError of one line if an option does not exist or is wrong.
 */
export function createAppServer(options: AppServerOptions): AppServer {
  requireServerOptions(options);
  const { transport } = options;
  const server = createServer(options);
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
      requireTransport('connect', client);
      await serve(client);
    },
    connectClient(clientOptions = {}) {
      if (closing !== null) throw new Error(CLOSED);
      requireClientOptions('connectClient', clientOptions);
      const input = new PassThrough();
      const output = new PassThrough();
      void serve({ input, output });
      return connect({ input: output, output: input, ...clientOptions });
    },
    close() {
      closing ??= server.close();
      return closing;
    },
  };
}

const CLOSED = 'the server is closed';

function requireServerOptions(options: AppServerOptions): void {
  const known = {
    home: KIND.any,
    cwd: KIND.string,
    env: KIND.variables,
    overrides: KIND.any,
    transport: KIND.any,
    model: KIND.any,
    deterministic: KIND.boolean,
    log: KIND.log,
  };
  requireOptions<AppServerOptions>('createAppServer', options, known);
  const { cwd = '.' } = options;
  if (!isFolder(resolve(cwd)))
    throw new TypeError(
      `createAppServer: cwd must be a folder that exists, and ${resolve(cwd)} is none`,
    );
  if (options.transport !== undefined) requireTransport('createAppServer', options.transport);
  // Code without types passes anything.
  const { home, model }: { home?: unknown; model?: unknown } = options;
  if (typeof home !== 'string' || home === '')
    throw new TypeError('createAppServer: home must be the path of a folder');
  if (model === undefined || (typeof model === 'object' && model !== null && 'stream' in model))
    return;
  throw new TypeError(
    `createAppServer: model must be an object with the method stream${typeof model === 'string' ? modelAdvice(model) : ''}`,
  );
}

function requireTransport(place: string, transport: StreamPair | Transport): void {
  const { listen, input, output } = (isObject(transport) ? transport : {}) as Partial<
    StreamPair & Transport
  >;
  if (typeof listen === 'function' || (KIND.readable.is(input) && KIND.writable.is(output))) return;
  throw new TypeError(
    `${place}: the transport must be an object with the streams input and output, or with the methods of a Transport`,
  );
}

function modelAdvice(model: string): string {
  if (namesScriptFile(model))
    return `: ${model} looks like the path of a script, so pass createScriptedModel(readFileSync('${model}', 'utf8'))`;
  return `: to name the model of a provider, pass overrides: { model: '${model}' }`;
}

/**
 * The settings as one object. Throws a TypeError about the first one that is wrong, whatever
 * config.toml says.
 */
function settingsOf(overrides: Overrides): JsonObject {
  const isList = Array.isArray(overrides);
  if (typeof overrides !== 'object' || overrides === null) {
    throw new TypeError(
      'createAppServer: overrides must be an object with settings, or an array of key=value strings',
    );
  }
  const read = () =>
    isList
      ? flagsLayer(overrides, tomlParser(), 'overrides')
      : optionLayer(overrides as JsonObject);
  const problem = layerProblem(read, 'overrides ');
  if (problem !== null) throw new TypeError(`createAppServer: ${problem}`);
  return read().config;
}

function tomlParser() {
  return tomlOf(createRequire(import.meta.url)('smol-toml') as Parameters<typeof tomlOf>[0]);
}

function createServer(options: AppServerOptions): Pick<App, 'connect' | 'close'> {
  const {
    home,
    cwd,
    env,
    log = SILENT_LOG,
    overrides = {},
    model,
    deterministic = false,
  } = options;
  const { root, ...installation } = installed();
  const parts: CommonParts = {
    ...installation,
    ...(model === undefined ? {} : { model }),
    overrides: settingsOf(overrides),
    home: resolve(home),
    cwd: resolve(cwd ?? '.'),
    env: env ?? process.env,
    log,
    platform: process.platform,
    pid: process.pid,
    nodeVersions: process.versions,
    systemDir: systemDir(),
    sendSignal: (to, signal) => process.kill(to, signal),
  };
  const storeFiles = (folder: string) => ({
    file: storeFileIn(folder),
    migrationsDir: join(root, 'migrations'),
    tempDir: tmpdir(),
  });
  if (!deterministic) return createPlain(parts, { root, ...storeFiles(parts.home) });
  const { versions } = process;
  return createDeterministic(parts, {
    storeFiles,
    nodeVersions: versions,
    activeResources: () => process.getActiveResourcesInfo(),
  });
}

/** The parts of every server, except its store. */
type CommonParts = Omit<AppParts, 'store'>;

function createPlain(
  parts: CommonParts,
  { root, ...files }: DatabasePlaces & { root: string },
): App {
  const { log, pid } = parts;
  const workerScript = join(root, 'bin', 'load-worker.js');
  const server: App = createApp({
    ...parts,
    ...(typeof IS_BUILT === 'undefined' ? {} : { workerScript }),
    store: createStore({
      ...files,
      script: workerScript,
      clock: systemClock,
      log,
      pid,
      nodeVersions: process.versions,
      onRepaired: (message) => server.warn(message),
      onSilent: (message) => server.warn(message),
    }),
  });
  return server;
}

/**
 * The version and the files of the installed package, wherever this file was built or bundled to.
 */
function installed(): Pick<AppParts, 'version' | 'installation'> & { root: string } {
  const require = createRequire(import.meta.url);
  const manifest = require.resolve('heddle/package.json');
  const { version } = require(manifest) as { version: string };
  const installation = { manifest, executable: process.execPath };
  return { version, installation, root: dirname(manifest) };
}

/**
 * Inserted by the build, which also makes the scripts of the threads. Missing if the sources run as
 * they are.
 */
declare const IS_BUILT: true | undefined;

function createStore(options: RemoteStoreOptions): ThreadStore {
  return typeof IS_BUILT === 'undefined' ? createSqliteStore(options) : createWorkerStore(options);
}
