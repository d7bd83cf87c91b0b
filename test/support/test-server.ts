import { chmodSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { TurnPartKind } from '../../src/agent/turn/turn-part-kind.ts';
import { type App, createApp } from '../../src/app.ts';
import type { Env } from '../../src/base/env.ts';
import type { Ids } from '../../src/base/ids.ts';
import type { Model } from '../../src/model/model.ts';
import type { Dial } from '../../src/network/checked-dial.ts';
import type { InitializeCapabilities } from '../../src/protocol/generated/types.ts';
import { createSqliteStore } from '../../src/store/sqlite/create-sqlite-store.ts';
import type { ThreadStore } from '../../src/store/thread-store.ts';
import { streamTransport } from '../../src/transport/stream-transport.ts';
import type { Transport } from '../../src/transport/transport.ts';
import type { WireTap } from '../../src/transport/wire-tap.ts';
import { tempFolder, writeFiles } from '../config/temp-folder.ts';
import { CountingIds } from './counting-ids.ts';
import { emptyDatabase } from './empty-database.ts';
import { FakeClock } from './fake-clock.ts';
import { RecordingLog } from './recording-log.ts';
import { TestClient } from './test-client.ts';
import { TestModel } from './test-model.ts';

/** A provider that is never reached: the test's model replaces all providers. */
const CONFIG = `model = "test-model"
model_provider = "test"
[model_providers.test]
base_url = "http://127.0.0.1:9"
`;

export interface TestServerOptions {
  /**
   * The folder of another server, to share its home or to use it after that server. Absent: a new
   * one, with an empty database.
   */
  folder?: string;
  /** Files of the folder, `home/` and `work/`. */
  files?: Record<string, string>;
  config?: string;
  /** Null: the providers' own models. */
  model?: TestModel | null;
  /** Replaces `model`. */
  otherModel?: Model;
  clock?: FakeClock;
  ids?: Ids;
  pid?: number;
  residentMemoryBytes?: () => number;
  env?: Env;
  overrides?: string[];
  /** Files of the folder for all users of the machine. Absent: there is no such folder. */
  system?: Record<string, string>;
  /** Connects the proxies of commands to hosts. */
  dial?: Dial;
  /**
   * The built script of the thread of commands' proxies. Absent: they are in the thread of the
   * test.
   */
  workerScript?: string;
  /** Further parts of every thread's turns. */
  partKinds?: readonly TurnPartKind[];
  /** Wraps the store of the server. */
  wrapStore?: (store: ThreadStore) => ThreadStore;
  /** The client's capabilities in the handshake. By default the experimental API is on. */
  capabilities?: InitializeCapabilities | null;
  /** False: no handshake. */
  handshake?: boolean;
  /** Gets the messages of clients, and what to hide in them. */
  tap?: WireTap;
  /** Whether the start files of the user's shell are read for its variables. Default: no. */
  readsShellExports?: boolean;
  /** Whether running turns end before the connection does, once the client has closed its side. */
  drain?: boolean;
  /** Whether threads begin turns by themselves without a client. */
  outlivesClients?: boolean;
}

/** A server in this process, with its first client. Everything it writes lies in `folder`. */
export interface TestServer {
  client: TestClient;
  model: TestModel;
  clock: FakeClock;
  log: RecordingLog;
  store: ThreadStore;
  folder: string;
  home: string;
  /** The working folder of threads that name none. */
  cwd: string;
  /** One more client of the same server. */
  connect(options?: ConnectOptions): Promise<TestClient>;
  /** Serves a client that comes by another way. Resolves when it is gone. */
  serve(transport: Transport): Promise<void>;
  /** Ends the server like the end of its process. */
  close(): Promise<void>;
  /** Ends this server and starts another on its home. */
  restart(options?: TestServerOptions): Promise<TestServer>;
}

interface ConnectOptions {
  capabilities?: InitializeCapabilities | null;
  handshake?: boolean;
  drain?: boolean;
  /** False: the server's output is not read before `read()`. */
  reading?: boolean;
}

/** Starts a server for the running test. It is closed and checked at the end of the test. */
export async function startServer(options: TestServerOptions = {}): Promise<TestServer> {
  const folder = options.folder ?? tempFolder();
  const home = join(folder, 'home');
  const cwd = join(folder, 'work');
  for (const path of [home, cwd]) mkdirSync(path, { recursive: true });
  const database = options.folder === undefined ? { 'home/heddle.db': await emptyDatabase() } : {};
  writeFiles(folder, {
    ...database,
    'home/config.toml': options.config ?? CONFIG,
    ...options.files,
  });
  if (options.folder === undefined) chmodSync(join(home, 'heddle.db'), 0o600);
  const { clock = new FakeClock(), ids = new CountingIds() } = options;
  const model = options.model ?? new TestModel();
  const log = new RecordingLog();
  const given = parts(options, { home, folder, clock, log });
  const store = options.wrapStore?.(given.store) ?? given.store;
  const serverModel = options.otherModel ?? (options.model === null ? null : model);
  const { partKinds = [] } = options;
  const server = createApp({
    ...given,
    partKinds,
    store,
    home,
    cwd,
    log,
    clock,
    ids,
    ...(options.dial && { dial: options.dial }),
    ...(options.tap && { tap: options.tap }),
    readsShellExports: options.readsShellExports ?? false,
    ...(options.workerScript !== undefined && { workerScript: options.workerScript }),
    ...(options.system && { systemDir: tempFolder(options.system) }),
    ...(serverModel === null ? {} : { model: serverModel }),
  });
  const clients: TestClient[] = [];
  const close = once(() => end(server, clients));
  onTestFinished(async () => {
    await close();
    check(clients, log);
  });
  const connect = (how: ConnectOptions = {}) => connected(server, { clients, ...how });
  const client = await connect(options);
  const restart = async (others: TestServerOptions = {}) => {
    await close();
    const config = options.config === undefined ? {} : { config: options.config };
    return startServer({ clock, ids, model, ...config, ...others, folder });
  };
  const serve = (transport: Transport) => server.connect(transport);
  const where = { folder, home, cwd };
  return { client, model, clock, log, store, ...where, connect, serve, close, restart };
}

function parts(
  {
    pid = 4711,
    residentMemoryBytes,
    env = {},
    overrides = [],
    outlivesClients = false,
  }: TestServerOptions,
  { home, folder, clock, log }: Where,
) {
  const migrationsDir = join(dirname(dirname(import.meta.dirname)), 'migrations');
  const tempDir = join(folder, 'tmp');
  mkdirSync(tempDir, { recursive: true });
  return {
    store: createSqliteStore({
      file: join(home, 'heddle.db'),
      migrationsDir,
      tempDir,
      clock,
      log,
      pid,
      nodeVersions: process.versions,
    }),
    nodeVersions: process.versions,
    env: { PATH: '/usr/bin:/bin', SHELL: '/bin/sh', ...env },
    overrides,
    version: '0.0.1',
    platform: 'linux' as const,
    pid,
    outlivesClients,
    sendSignal: (to: number, signal: NodeJS.Signals) => process.kill(to, signal),
    ...(residentMemoryBytes && { residentMemoryBytes }),
    installation: {
      manifest: join(dirname(migrationsDir), 'package.json'),
      executable: process.execPath,
    },
  };
}

interface Where {
  home: string;
  folder: string;
  clock: FakeClock;
  log: RecordingLog;
}

async function connected(
  server: App,
  {
    clients,
    capabilities,
    handshake = true,
    reading = true,
    drain = false,
  }: ConnectOptions & { clients: TestClient[] },
): Promise<TestClient> {
  const client = new TestClient();
  clients.push(client);
  client.ended = server.connect(streamTransport({ input: client.input, output: client.output }), {
    drain,
  });
  if (reading) client.read();
  if (handshake && reading) await client.initialize(capabilities);
  return client;
}

async function end(server: App, clients: TestClient[]): Promise<void> {
  for (const client of clients) {
    client.input.end();
    client.output.resume();
  }
  await server.close();
}

function check(clients: TestClient[], log: RecordingLog): void {
  expect(clients.flatMap(({ problems }) => problems)).toEqual([]);
  expect(clients.flatMap(({ waitingFor }) => waitingFor)).toEqual([]);
  expect(log.errors()).toEqual([]);
}

function once(action: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | null = null;
  return () => {
    done ??= action();
    return done;
  };
}

/** The user's config.toml as it is now. */
export function configTextOf({ home }: Pick<TestServer, 'home'>): string {
  return readFileSync(join(home, 'config.toml'), 'utf8');
}

/** A config.toml whose provider is never reached, with further keys. */
export function configWithKeys(keys: string): string {
  return `model = "m"\nmodel_provider = "test"\n${keys}\n[model_providers.test]\nbase_url = "http://127.0.0.1:9"\n`;
}
