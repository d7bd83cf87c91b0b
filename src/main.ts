import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { CLOSE_MS_MAX } from './agent/last-programs.ts';
import { type App, createApp } from './app.ts';
import type { AppParts } from './backend.ts';
import { type Clock, systemClock } from './base/clock.ts';
import { protectStore, storeFileIn } from './base/files/own-file.ts';
import type { Log } from './base/log.ts';
import { isFolder } from './base/paths/is-folder.ts';
import { showText } from './base/text/show-text.ts';
import type { Service } from './cli/deterministic/start-deterministic.ts';
import { isLogLevel, lazyLog } from './cli/lazy-log.ts';
import { logToFile, logToStream } from './cli/log-to-file.ts';
import { OptionError, openFor } from './cli/option-error.ts';
import { type Command, type Generator, parseCommandLine, type ServeOptions } from './cli/parse-command-line.ts';
import { requireValidOverrides } from './cli/require-valid-overrides.ts';
import { tellOfUnused } from './cli/tell-of-unused.ts';
import { UsageError } from './cli/usage-error.ts';
import { watchClient } from './cli/watch-client.ts';
import type { WireLog } from './cli/wire-log.ts';
import { systemDir } from './config/requirements/system-dir.ts';
import { editInThread } from './config/writing/edit-in-thread.ts';
import type { Model } from './model/model.ts';
import { scaleInThread } from './model/pictures/scale-in-thread.ts';
import { ScriptError } from './model/script/script-error.ts';
import { PROTOCOL_VERSION } from './protocol/protocol-version.ts';
import type { DatabasePlaces } from './store/sqlite/database/open-database.ts';
import { createWorkerStore } from './store/sqlite/worker/create-worker-store.ts';
import { streamTransport } from './transport/stream-transport.ts';

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
  const service = await (options.deterministic ? deterministic : startPlain)(parts, options);
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

/** Rejects with a UsageError if the command line has a value that is wrong whatever the clients do. */
async function requireValid(options: ServeOptions): Promise<void> {
  const { overrides, profile } = options;
  await requireValidOverrides(overrides);
  if (profile === null) return;
  const { requireProfile } = await import('./cli/require-profile.ts');
  await requireProfile(profile, {
    home: homeFolder(),
    cwd: workingDirectory(options),
    env: process.env,
    overrides,
    systemDir: systemDir(),
  });
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

async function deterministic(parts: CommonParts, options: ServeOptions): Promise<Service> {
  const { startDeterministic } = await import('./cli/deterministic/start-deterministic.ts');
  return startDeterministic(parts, {
    framing: options.framing,
    nodeVersions: process.versions,
    model: (clock) => scriptModel(options, { log: parts.log, clock }),
    storePlaces: storeFiles,
    input: process.stdin,
    output: process.stdout,
    activeResources: () => process.getActiveResourcesInfo(),
  });
}

async function serve(options: ServeOptions): Promise<void> {
  // Before the log, which the user could have put in its place.
  protectStore(storeFileIn(homeFolder()));
  const log = createLog(options);
  tellOfUnused(options.unused, log);
  await requireValid(options);
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
  if (process.stdin.isTTY) process.stderr.write((await import('./cli/greeting.ts')).greeting(join(__dirname, '..', 'docs')));
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
    { print, confirm: process.stdin.isTTY ? confirm : null },
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
      print,
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
    print,
  );
  process.stdout.write('', () => process.exit(isWell ? 0 : 1));
}

async function request({ request: wanted, overrides }: Extract<Command, { run: 'request' }>): Promise<void> {
  process.stdout.on('error', () => process.exit(1));
  // Also called if the terminal ends without an answer.
  process.exitCode = 1;
  const { runRequest } = await import('./cli/requests/run-request.ts');
  const server: [string, string] = [process.execPath, join(__dirname, '..', 'bin', 'heddle.js')];
  const { columns = null } = process.stdout;
  const terminal = { print, columns, confirm: process.stdin.isTTY ? confirm : null };
  const options = { server, overrides, version: HEDDLE_VERSION, userHome: process.env.HOME || null };
  if (await runRequest(wanted, options, terminal)) process.exitCode = 0;
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

function print(text: string): void {
  process.stdout.write(text);
}

async function run(argv: string[]): Promise<void> {
  const command = parseCommandLine(argv);
  switch (command.run) {
    case 'help':
      return print((await import('./cli/show-help.ts')).showHelp(command.command));
    case 'version':
      // Clients take the first version, or the last word, for the version of the protocol.
      return print(`heddle ${PROTOCOL_VERSION}\nheddle's own version is ${HEDDLE_VERSION}, that of the protocol ${PROTOCOL_VERSION}\n`);
    case 'completion':
      return print((await import('./cli/show-completion.ts')).showCompletion(command.shell));
    case 'trust':
      return trust(command);
    case 'store':
      return store(command);
    case 'doctor':
      return doctor(command);
    case 'generate':
      return generate(command);
    case 'request':
      return request(command);
    case 'serve':
      return serve(command.options);
    default:
      return command satisfies never;
  }
}

function isOfCommandLine(error: unknown): boolean {
  return error instanceof UsageError || error instanceof OptionError || error instanceof ScriptError;
}

function fail(error: unknown, exitCode: number): void {
  const message = error instanceof Error ? error.message : String(error);
  const hint = error instanceof UsageError ? ` (see ${JSON.stringify(error.help)})` : '';
  process.stderr.write(`heddle: ${showText(message, { multiline: true })}${hint}\n`);
  process.exitCode = exitCode;
}

run(process.argv.slice(2)).catch((error: unknown) => fail(error, isOfCommandLine(error) ? 2 : 1));
