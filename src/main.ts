import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { CLOSE_MS_MAX } from './agent/last-programs.ts';
import { type App, createApp } from './app.ts';
import { systemClock } from './base/clock.ts';
import { protectStore, storeFileIn } from './base/files/own-file.ts';
import type { Log } from './base/log.ts';
import { showText } from './base/text/show-text.ts';
import type { CheckedOptions } from './cli/check-settings.ts';
import { describeProblem, isOfCommandLine } from './cli/command-line/describe-problem.ts';
import {
  type Command,
  overridesIn,
  parseCommandLine,
  type ServeOptions,
} from './cli/command-line/parse-command-line.ts';
import { versionText } from './cli/command-line/version-text.ts';
import { createLog } from './cli/create-log.ts';
import { onLostOutput } from './cli/on-lost-output.ts';
import { openFor } from './cli/option-error.ts';
import { requireValidOverrides } from './cli/require-valid-overrides.ts';
import { tellOfUnused } from './cli/tell-of-unused.ts';
import { variableProblems } from './cli/variable-problems.ts';
import { watchClient } from './cli/watch-client.ts';
import type { WireLog } from './cli/wire-log.ts';
import { workingDirectory } from './cli/working-directory.ts';
import { systemDir } from './config/requirements/system-dir.ts';
import { editInThread } from './config/writing/edit-in-thread.ts';
import type { Model } from './model/model.ts';
import { scaleInThread } from './model/pictures/scale-in-thread.ts';
import type { AppParts } from './services/app-parts.ts';
import type { DatabasePlaces } from './store/sqlite/database/open-database.ts';
import { createWorkerStore } from './store/sqlite/worker/create-worker-store.ts';
import { type StreamPair, streamTransport } from './transport/stream-transport.ts';

/** The package's version, inserted by the build. */
declare const HEDDLE_VERSION: string;

const STDOUT = 1;
/**
 * The exit code after an error inside the server that nothing has handled: EX_SOFTWARE of sysexits.
 */
const EXIT_INTERNAL = 70;

const TOML_EDITOR = join(__dirname, '..', 'bin', 'load-toml-editor.js');
const PROGRESS = join(__dirname, '..', 'bin', 'load-progress.js');
const PICTURE_SCALER = join(__dirname, '..', 'bin', 'load-picture-scaler.js');
const MIGRATIONS = join(__dirname, '..', 'migrations');
const SCHEMA = join(__dirname, '..', 'schema');
const INSTALLATION = {
  manifest: join(__dirname, '..', 'package.json'),
  executable: process.execPath,
};

const argv = process.argv.slice(2);
const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;

function homeFolder(): string {
  return resolve(process.env.HEDDLE_HOME || process.env.CODEX_HOME || join(homedir(), '.heddle'));
}

function homeSource(): string {
  return ['HEDDLE_HOME', 'CODEX_HOME'].find((name) => process.env[name]) ?? 'the default';
}

type Streams = Pick<StreamPair, 'input' | 'output'>;

/** A server, and its client's transport. */
interface Service {
  server: Pick<App, 'connect' | 'close'>;
  transport: ReturnType<typeof streamTransport>;
  /** Closes the wire log. */
  end(): void;
}

/** The parts of every server of this process, except its store. */
type CommonParts = Omit<AppParts, 'store'>;

/** Starts a server for a client that writes to `input` and reads from `output`. */
async function start(options: ServeOptions, log: Log, streams: Streams): Promise<Service> {
  const wireLog = options.wireLog === null ? null : await openWireLog(options.wireLog);
  const parts: CommonParts = {
    home: homeFolder(),
    cwd: workingDirectory(options.cwd),
    env: process.env,
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
  const server = await (options.deterministic ? startPaced : startPlain)(parts, options);
  const transport = streamTransport({ ...streams, framing: options.framing });
  return { server, transport, end: () => wireLog?.close() };
}

/**
 * Rejects if the settings of the command line are wrong or, where it asks for that, those of the
 * configuration.
 */
async function check({
  overrides,
  profile,
  strictConfig = false,
  cwd: named = null,
}: CheckedOptions): Promise<void> {
  await requireValidOverrides(overrides);
  if (profile === null && !strictConfig) return;
  const { checkSettings } = await import('./cli/check-settings.ts');
  const cwd = workingDirectory(named);
  await checkSettings(
    { profile, strictConfig },
    { home: homeFolder(), cwd, env: process.env, overrides, systemDir: systemDir() },
  );
}

async function openWireLog(file: string): Promise<WireLog> {
  const { WireLog } = await import('./cli/wire-log.ts');
  return openFor(
    '--wire-log',
    file,
    () => new WireLog(file, { clock: systemClock, env: process.env }),
  );
}

/** The database in a folder, as every store takes it. */
function storeFiles(folder: string): DatabasePlaces {
  return { file: storeFileIn(folder), migrationsDir: MIGRATIONS, tempDir: tmpdir() };
}

async function startPlain(parts: CommonParts, options: ServeOptions): Promise<App> {
  const { home, log, pid } = parts;
  const model = await scriptModel(options, log);
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
    onLongResponses: () =>
      void import('./base/processes/limit-heap-growth.ts').then(({ limitHeapGrowth }) =>
        limitHeapGrowth(),
      ),
    onHandshake: () => store.warmUp(),
    ...(model === null ? {} : { model }),
  });
  return server;
}

/** The model of `--model-script`. Null without that option. */
async function scriptModel({ modelScript }: ServeOptions, log: Log): Promise<Model | null> {
  if (modelScript === null) return null;
  const { loadScriptedModel } = await import('./model/script/load-scripted-model.ts');
  return loadScriptedModel(resolve(modelScript), { log });
}

async function startPaced(parts: CommonParts, options: ServeOptions): Promise<Service['server']> {
  const { createDeterministic } = await import('./deterministic/create-deterministic.ts');
  const model = await scriptModel(options, parts.log);
  const { versions, getActiveResourcesInfo } = process;
  return createDeterministic(
    { ...parts, ...(model === null ? {} : { model }) },
    { storeFiles, nodeVersions: versions, activeResources: () => getActiveResourcesInfo() },
  );
}

/**
 * Logs errors that nothing has handled. `end` is called for those after which the process cannot go
 * on.
 */
function onFault(log: Log, end: (error: Error) => void): void {
  process.on('uncaughtException', (error) => {
    log.error({ err: error }, 'uncaught exception: the server ends');
    end(error);
  });
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'unhandled rejection'));
}

function onSignal(handler: (signal: number) => void): void {
  for (const [signal, number] of Object.entries(SIGNALS)) process.on(signal, () => handler(number));
}

async function serve(options: ServeOptions): Promise<void> {
  // Before the log, which the user could have put in its place.
  protectStore(storeFileIn(homeFolder()));
  const log = createLog({ ...options, byDefault: 'warn' }, process.env, process.stderr);
  tellOfUnused(options.unused, log);
  for (const problem of await variableProblems(process.env, homeFolder(), options.overrides))
    log.warn({ problem }, 'wrong variable');
  await check(options);
  const {
    server,
    transport,
    end: clearAway,
  } = await start(options, log, { input: process.stdin, output: process.stdout });
  const endOnce = async (exitCode: number, reason: 'shutdown' | 'clientGone') => {
    stopWatching();
    setTimeout(() => process.exit(exitCode), CLOSE_MS_MAX).unref();
    const reports = await server.close(reason).catch((error: unknown) => {
      log.error({ err: error }, 'closing the server failed');
      return [];
    });
    clearAway();
    for (const report of reports)
      process.stderr.write(`heddle: ${showText(report, { multiline: true })}\n`);
    process.exit(reports.length > 0 ? 1 : exitCode);
  };
  let ending: Promise<void> | null = null;
  const end = (exitCode: number, reason: 'shutdown' | 'clientGone') => {
    ending ??= endOnce(exitCode, reason);
    return ending;
  };
  // A second signal ends the process at once. The watchdog then kills the commands that still run.
  onSignal((number) =>
    ending === null ? void end(128 + number, 'shutdown') : process.exit(128 + number),
  );
  const clientGone = (why: string) => {
    log.info({ why }, 'the client is gone');
    void end(0, 'clientGone');
  };
  process.stdout.on('error', ({ message }) => clientGone(message));
  const stopWatching = watchClient({
    parent: () => process.ppid,
    output: STDOUT,
    onGone: clientGone,
  });
  onFault(log, () => void end(EXIT_INTERNAL, 'shutdown'));
  if (process.stdin.isTTY)
    process.stderr.write(
      (await import('./cli/greeting.ts')).greeting(join(__dirname, '..', 'docs')),
    );
  // A paced input ends when all turns have ended but those that hang, so there is nothing to drain.
  await server.connect(transport, { drain: options.drain && !options.deterministic });
  await end(0, 'clientGone');
}

/** One turn, or a session, of a server in this process. */
async function converse(command: Extract<Command, { run: 'exec' | 'wire' }>): Promise<void> {
  const { options } = command;
  protectStore(storeFileIn(homeFolder()));
  // A person reads stderr: what concerns them comes as warnings.
  const log = createLog(
    { ...options, byDefault: options.logFile === null ? 'off' : 'warn' },
    process.env,
    process.stderr,
  );
  onFault(log, (error) => process.exit(fail(error, EXIT_INTERNAL)));
  await check(options);
  const { env, stdin, stdout, stderr } = process;
  const host = {
    ...{ version: HEDDLE_VERSION, env, stdin, stdout, stderr, schemaDir: SCHEMA },
    folder: { path: workingDirectory(options.cwd), isGiven: options.cwd !== null },
    ignored: options.unused.allowing,
    log,
    start: (streams: Streams) => start(options, log, streams),
    onSignal,
    // The parent may end first, as with nohup.
    onReaderGone: (handler: () => void) =>
      void watchClient({ parent: () => 0, output: STDOUT, onGone: handler }),
    exit: (code: number) => process.exit(code),
    limitClose: (code: number) => void setTimeout(() => process.exit(code), CLOSE_MS_MAX).unref(),
  };
  const exitCode =
    command.run === 'wire'
      ? await (await import('./cli/wire/run-wire.ts')).runWire(command.asked, host)
      : await (await import('./cli/exec/run-exec.ts')).runExec(command.asked, host);
  stdout.write('', () => process.exit(exitCode));
}

async function init({ values }: Extract<Command, { run: 'init' }>): Promise<void> {
  const { runInit } = await import('./cli/init/run-init.ts');
  const { env, stdin, stdout, stderr } = process;
  const exitCode = await runInit(values, {
    ...{
      home: homeFolder(),
      cwd: process.cwd(),
      env,
      systemDir: systemDir(),
      version: HEDDLE_VERSION,
      stdin,
      stdout,
      stderr,
    },
    ...{ editToml: editInThread(TOML_EDITOR), onSignal, exit: (code) => process.exit(code) },
  });
  // A provider that does not answer would be waited for.
  stdout.write('', () => process.exit(exitCode));
}

async function trust({ folder, yes }: Extract<Command, { run: 'trust' }>): Promise<void> {
  const { trustProject } = await import('./cli/trust-project.ts');
  const options = { home: homeFolder(), systemDir: systemDir(), folder: resolve(folder), yes };
  process.exitCode = (await trustProject(options, await terminal())) ? 0 : 1;
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
      progressScript: PROGRESS,
    },
    { print, stderr: process.stderr, env: process.env },
  );
  process.exitCode = isWell ? 0 : 1;
}

async function doctor({ settings, json }: Extract<Command, { run: 'doctor' }>): Promise<void> {
  await check(settings);
  const { runDoctor } = await import('./cli/doctor/run-doctor.ts');
  const isWell = await runDoctor(
    {
      home: homeFolder(),
      homeSource: homeSource(),
      ...{ cwd: process.cwd(), env: process.env, overrides: settings.overrides, json },
      sendSignal: (pid, signal) => process.kill(pid, signal),
      version: HEDDLE_VERSION,
      platform: process.platform,
      nodeVersions: process.versions,
      installation: INSTALLATION,
      systemDir: systemDir(),
    },
    { print, stderr: process.stderr },
  );
  process.stdout.write('', (error) => (error ? undefined : process.exit(isWell ? 0 : 1)));
}

async function request({
  request: wanted,
  settings,
}: Extract<Command, { run: 'request' }>): Promise<void> {
  await check(settings);
  const { runRequest } = await import('./cli/requests/run-request.ts');
  const server: [string, string] = [process.execPath, join(__dirname, '..', 'bin', 'heddle.js')];
  const options = {
    server,
    overrides: settings.overrides,
    version: HEDDLE_VERSION,
    userHome: process.env.HOME || null,
  };
  process.exitCode = (await runRequest(wanted, options, await terminal())) ? 0 : 1;
}

async function terminal() {
  const { stdin, stdout, stderr, env } = process;
  const onInterrupt = () => process.exit(128 + SIGNALS.SIGINT);
  return (await import('./cli/terminal/terminal-at.ts')).terminalAt({
    stdin,
    stdout,
    stderr,
    env,
    onInterrupt,
  });
}

const print = (text: string) => void process.stdout.write(text);

async function run(): Promise<void> {
  const command = parseCommandLine(argv);
  const isQuiet = ['serve', 'help', 'version', 'completion'].includes(command.run);
  const problems = isQuiet
    ? []
    : await variableProblems(process.env, homeFolder(), overridesIn(command));
  for (const problem of problems) process.stderr.write(`warning: ${showText(problem)}\n`);
  if (!['serve', 'exec', 'wire'].includes(command.run))
    onLostOutput(process.stdout, (reason) =>
      process.exit(reason === null ? 1 : fail(new Error(reason))),
    );
  switch (command.run) {
    case 'help':
      return print((await import('./cli/command-line/show-help.ts')).showHelp(command.command));
    case 'version':
      return print(versionText(process.argv[1] ?? '', HEDDLE_VERSION));
    case 'completion':
      return print(
        (await import('./cli/command-line/show-completion.ts')).showCompletion(command.shell),
      );
    case 'init':
      return init(command).catch((error: unknown) => process.exit(fail(error)));
    case 'trust':
      return trust(command);
    case 'store':
      return store(command);
    case 'doctor':
      return doctor(command);
    case 'generate':
      return (await import('./cli/generate/run-generator.ts')).runGenerator(command, SCHEMA);
    case 'request':
      return request(command);
    case 'exec':
    case 'wire':
      return converse(command).catch((error: unknown) => process.exit(fail(error)));
    case 'serve':
      return serve(command.options);
    default:
      return command satisfies never;
  }
}

/** Says why the process ends, and returns its exit code. */
function fail(error: unknown, exitCode = isOfCommandLine(error) ? 2 : 1): number {
  process.stderr.write(`heddle: ${showText(describeProblem(error, argv), { multiline: true })}\n`);
  process.exitCode = exitCode;
  return exitCode;
}

run().catch((error: unknown) => fail(error));
