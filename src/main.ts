import { mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { CLOSE_MS_MAX } from './agent/last-programs.ts';
import { type App, createApp } from './app.ts';
import type { AppParts } from './backend.ts';
import { type Clock, systemClock } from './base/clock.ts';
import { protectStore, storeFileIn } from './base/files/own-file.ts';
import type { Log } from './base/log.ts';
import { isFolder } from './base/paths/is-folder.ts';
import { processTag } from './base/process-tag.ts';
import { showText } from './base/text/show-text.ts';
import { isLogLevel, lazyLog } from './cli/lazy-log.ts';
import { logToFile, logToStream } from './cli/log-to-file.ts';
import { OptionError, openFor } from './cli/option-error.ts';
import { type Command, type Generator, parseCommandLine, type ServeOptions } from './cli/parse-command-line.ts';
import { tellOfUnused } from './cli/tell-of-unused.ts';
import { USAGE } from './cli/usage.ts';
import { versionLine } from './cli/version-line.ts';
import { watchClient } from './cli/watch-client.ts';
import type { WireLog } from './cli/wire-log.ts';
import { systemDir } from './config/requirements/system-dir.ts';
import { editInThread } from './config/writing/edit-in-thread.ts';
import type { Model } from './model/model.ts';
import { scaleInThread } from './model/pictures/scale-in-thread.ts';
import { ScriptError } from './model/script/script-error.ts';
import type { DatabasePlaces } from './store/sqlite/database/open-database.ts';
import { createWorkerStore } from './store/sqlite/worker/create-worker-store.ts';
import { streamTransport } from './transport/stream-transport.ts';
import type { Transport } from './transport/transport.ts';

/** The package's version, inserted by the build. */
declare const HEDDLE_VERSION: string;

const STDOUT = 1;
/** The exit code after an error inside the server that nothing has handled: EX_SOFTWARE of sysexits. */
const EXIT_INTERNAL = 70;

const TOML_EDITOR = join(__dirname, '..', 'bin', 'load-toml-editor.js');
const PICTURE_SCALER = join(__dirname, '..', 'bin', 'load-picture-scaler.js');

const MIGRATIONS = join(__dirname, '..', 'migrations');

const INSTALLATION = { manifest: join(__dirname, '..', 'package.json'), executable: process.execPath };

const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;

const GENERATORS: Record<Generator, () => Promise<(options: { schemaDir: string; outDir: string; experimental: boolean }) => void>> = {
  'generate-json-schema': async () => (await import('./cli/generate/generate-json-schema.ts')).generateJsonSchema,
  'generate-ts': async () => (await import('./cli/generate/generate-ts.ts')).generateTs,
};

function homeFolder(): string {
  return resolve(process.env.HEDDLE_HOME || process.env.CODEX_HOME || join(homedir(), '.heddle'));
}

function homeSource(): string {
  return ['HEDDLE_HOME', 'CODEX_HOME'].find((name) => process.env[name]) ?? 'the default';
}

function createLog({ logLevel, logFile }: ServeOptions): Log {
  const fromEnv = process.env.HEDDLE_LOG ?? '';
  const level = logLevel ?? (isLogLevel(fromEnv) ? fromEnv : 'warn');
  const log = lazyLog(level, logFile === null ? logToStream(process.stderr) : openFor('--log-file', logFile, logToFile));
  if (logLevel === null && fromEnv !== '' && level !== fromEnv)
    log.warn({ level: fromEnv }, 'HEDDLE_LOG is not a log level: expected off, error, warn, info or debug');
  return log;
}

interface Service {
  server: Pick<App, 'connect' | 'close'>;
  transport: Transport;
  /** Removes temporary files and closes the wire log. */
  end(): void;
}

/** The parts of every server of this process, except its store. */
type CommonParts = Omit<AppParts, 'store'>;

async function start(options: ServeOptions, log: Log): Promise<Service> {
  const { env } = process;
  const wireLog = options.wireLog === null ? null : await openWireLog(options.wireLog);
  const parts: CommonParts = {
    home: homeFolder(),
    cwd: workingDirectory(options),
    env,
    overrides: options.overrides,
    log,
    version: HEDDLE_VERSION,
    platform: process.platform,
    pid: process.pid,
    nodeVersions: process.versions,
    sendSignal: (pid, signal) => process.kill(pid, signal),
    residentMemoryBytes: () => process.memoryUsage.rss(),
    installation: INSTALLATION,
    systemDir: systemDir(),
    ...(wireLog === null ? {} : { tap: wireLog }),
  };
  const service = await (options.deterministic ? startDeterministic : startPlain)(parts, options);
  return {
    ...service,
    end: () => {
      service.end();
      wireLog?.close();
    },
  };
}

function workingDirectory({ cwd }: ServeOptions): string {
  const folder = resolve(cwd ?? '.');
  if (cwd !== null && !isFolder(folder)) throw new OptionError(`--cd ${cwd}: the folder does not exist`);
  return folder;
}

async function checkStrictly(options: ServeOptions): Promise<void> {
  const { requireKnownKeys } = await import('./cli/require-known-keys.ts');
  const { overrides } = options;
  await requireKnownKeys({ home: homeFolder(), cwd: workingDirectory(options), env: process.env, overrides, systemDir: systemDir() });
}

async function openWireLog(file: string): Promise<WireLog> {
  const { WireLog } = await import('./cli/wire-log.ts');
  return openFor('--wire-log', file, () => new WireLog(file, { clock: systemClock, env: process.env }));
}

/** The database in a folder, as every store takes it. */
function storeFiles(folder: string): DatabasePlaces {
  return { file: storeFileIn(folder), migrationsDir: MIGRATIONS, tempDir: tmpdir() };
}

async function startPlain(parts: CommonParts, options: ServeOptions): Promise<Service> {
  const { home, log, pid } = parts;
  const model = await scriptModel(options, { log, clock: systemClock });
  const store = createWorkerStore({
    ...storeFiles(home),
    script: join(__dirname, '..', 'bin', 'load-store.js'),
    clock: systemClock,
    log,
    pid,
    nodeVersions: process.versions,
    onRepaired: (message) => server.warn(message),
    onSilent: (message) => server.warn(message),
  });
  const server: App = createApp({
    ...parts,
    store,
    searchScript: join(__dirname, '..', 'bin', 'load-search.js'),
    proxyScript: join(__dirname, '..', 'bin', 'load-proxies.js'),
    mcpScript: join(__dirname, '..', 'bin', 'load-mcp.js'),
    editToml: editInThread(TOML_EDITOR),
    scalePicture: scaleInThread(PICTURE_SCALER),
    onLongResponses: () => void import('./base/processes/limit-heap-growth.ts').then(({ limitHeapGrowth }) => limitHeapGrowth()),
    onHandshake: () => store.warmUp(),
    ...(model === null ? {} : { model }),
  });
  return { server, transport: streamTransport({ input: process.stdin, output: process.stdout, framing: options.framing }), end: () => {} };
}

/** The model of `--model-script`. Null without that option. */
async function scriptModel({ modelScript }: ServeOptions, deps: { log: Log; clock: Clock }): Promise<Model | null> {
  if (modelScript === null) return null;
  const { loadScriptedModel } = await import('./model/script/load-scripted-model.ts');
  return loadScriptedModel(resolve(modelScript), deps);
}

/** A server with a virtual clock, counting ids and a scripted model, whose data is removed at the end. */
async function startDeterministic(parts: CommonParts, options: ServeOptions): Promise<Service> {
  const { CountingIds } = await import('./cli/deterministic/counting-ids.ts');
  const { FixedPace } = await import('./cli/deterministic/fixed-pace.ts');
  const { pacedInput } = await import('./cli/deterministic/paced-input.ts');
  const { VirtualClock } = await import('./cli/deterministic/virtual-clock.ts');
  const { createSqliteStore } = await import('./store/sqlite/create-sqlite-store.ts');
  const { createEmbeddedModel } = await import('./model/embedded/create-embedded-model.ts');
  const { framing } = options;
  const clock = new VirtualClock();
  const model = (await scriptModel(options, { log: parts.log, clock })) ?? createEmbeddedModel({ clock });
  const storeDir = mkdtempSync(join(tmpdir(), `heddle-deterministic-${processTag()}-`));
  // server/diagnostics must not show values of this process.
  const { residentMemoryBytes: _, ...same } = parts;
  // In this thread, since nothing else may depend on when another thread answers.
  const store = createSqliteStore({ ...storeFiles(storeDir), clock, log: parts.log, pid: 0, nodeVersions: process.versions });
  const pacing = new FixedPace({
    clock,
    activeResources: () => process.getActiveResourcesInfo(),
    outputWaits: () => process.stdout.writableLength > 0,
  });
  const server = createApp({ ...same, pid: 0, model, clock, ids: new CountingIds(), store, storeDir, recordsTrust: false, pacing });
  const input = pacedInput({ from: process.stdin, framing, settle: (message) => pacing.settle(server, message) });
  input.once('end', () => void pacing.settleRequests(server));
  return {
    server: {
      connect: (transport, connecting) => server.connect(transport, connecting),
      close() {
        pacing.release();
        return server.close();
      },
    },
    transport: streamTransport({ input, output: process.stdout, framing }),
    end: () => rmSync(storeDir, { recursive: true, force: true }),
  };
}

async function serve(options: ServeOptions): Promise<void> {
  // Before the log, which the user could have put in its place.
  protectStore(storeFileIn(homeFolder()));
  const log = createLog(options);
  tellOfUnused(options.unused, log);
  if (options.strictConfig) await checkStrictly(options);
  const { server, transport, end: clearAway } = await start(options, log);
  const endOnce = async (exitCode: number, reason: 'shutdown' | 'clientGone') => {
    stopWatching();
    setTimeout(() => process.exit(exitCode), CLOSE_MS_MAX).unref();
    const reports = await server.close(reason).catch((error: unknown) => {
      log.error({ err: error }, 'closing the server failed');
      return [];
    });
    clearAway();
    for (const report of reports) process.stderr.write(`heddle: ${showText(report, { multiline: true })}\n`);
    process.exit(reports.length > 0 ? 1 : exitCode);
  };
  let ending: Promise<void> | null = null;
  const end = (exitCode: number, reason: 'shutdown' | 'clientGone') => {
    ending ??= endOnce(exitCode, reason);
    return ending;
  };
  for (const [signal, number] of Object.entries(SIGNALS)) {
    // A second signal ends the process at once. The watchdog then kills the commands that still run.
    process.on(signal, () => (ending === null ? void end(128 + number, 'shutdown') : process.exit(128 + number)));
  }
  const clientGone = (why: string) => {
    log.info({ why }, 'the client is gone');
    void end(0, 'clientGone');
  };
  process.stdout.on('error', ({ message }) => clientGone(message));
  const stopWatching = watchClient({ parent: () => process.ppid, output: STDOUT, onGone: clientGone });
  process.on('uncaughtException', (error) => {
    log.error({ err: error }, 'uncaught exception: the server ends');
    void end(EXIT_INTERNAL, 'shutdown');
  });
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'unhandled rejection'));
  // A paced input ends when all turns have ended but those that hang, so there is nothing to drain.
  await server.connect(transport, { drain: options.drain && !options.deterministic });
  await end(0, 'clientGone');
}

async function generate({ generator, out, experimental }: Extract<Command, { run: 'generate' }>): Promise<void> {
  const write = await GENERATORS[generator]();
  write({ schemaDir: join(__dirname, '..', 'schema'), outDir: resolve(out), experimental });
}

async function trust({ folder, yes }: Extract<Command, { run: 'trust' }>): Promise<void> {
  // Also called if the terminal ends without an answer.
  process.exitCode = 1;
  const { trustProject } = await import('./cli/trust-project.ts');
  const isDone = await trustProject(
    { home: homeFolder(), systemDir: systemDir(), folder: resolve(folder), yes },
    { print: (text) => process.stdout.write(text), confirm: process.stdin.isTTY ? confirm : null },
  );
  if (isDone) process.exitCode = 0;
}

async function store({ action, file, json }: Extract<Command, { run: 'store' }>): Promise<void> {
  const { maintainStore } = await import('./cli/maintain-store.ts');
  const isWell = await maintainStore(
    {
      action,
      json,
      target: file === null ? null : resolve(file),
      file: storeFileIn(homeFolder()),
      migrationsDir: MIGRATIONS,
      nodeVersions: process.versions,
    },
    {
      print: (text) => process.stdout.write(text),
      complain: (text) => process.stderr.write(text),
      progress: process.stderr.isTTY && !json ? (text) => process.stderr.write(text) : null,
    },
  );
  process.exitCode = isWell ? 0 : 1;
}

async function doctor({ overrides, json }: Extract<Command, { run: 'doctor' }>): Promise<void> {
  const { runDoctor } = await import('./cli/doctor/run-doctor.ts');
  const isWell = await runDoctor(
    {
      home: homeFolder(),
      homeSource: homeSource(),
      ...{ cwd: process.cwd(), env: process.env, overrides, json },
      sendSignal: (pid, signal) => process.kill(pid, signal),
      version: HEDDLE_VERSION,
      platform: process.platform,
      nodeVersions: process.versions,
      installation: INSTALLATION,
      systemDir: systemDir(),
    },
    (text) => process.stdout.write(text),
  );
  process.stdout.write('', () => process.exit(isWell ? 0 : 1));
}

async function confirm(question: string): Promise<boolean> {
  const { createInterface } = await import('node:readline/promises');
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return /^y(es)?$/i.test((await terminal.question(question)).trim());
  } finally {
    terminal.close();
  }
}

function run(command: Command): void {
  switch (command.run) {
    case 'help':
      process.stdout.write(USAGE);
      return;
    case 'version':
      process.stdout.write(versionLine(process.argv[1] ?? ''));
      return;
    case 'trust':
      trust(command).catch((error: unknown) => fail(error, error instanceof OptionError ? 2 : 1));
      return;
    case 'store':
      store(command).catch((error: unknown) => fail(error, 1));
      return;
    case 'doctor':
      doctor(command).catch((error: unknown) => fail(error, 1));
      return;
    case 'generate':
      generate(command).catch((error: unknown) => fail(error, 1));
      return;
    case 'serve':
      serve(command.options).catch((error: unknown) => fail(error, error instanceof ScriptError || error instanceof OptionError ? 2 : 1));
      return;
    default:
      command satisfies never;
  }
}

function fail(error: unknown, exitCode: number, hint = ''): void {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`heddle: ${showText(message, { multiline: true })}${hint}\n`);
  process.exitCode = exitCode;
}

try {
  run(parseCommandLine(process.argv.slice(2)));
} catch (error) {
  fail(error, 2, ' ("heddle --help" lists the commands and options.)');
}
