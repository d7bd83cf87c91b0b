import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type App, createApp } from './app.ts';
import { systemClock } from './base/clock.ts';
import { storeFileIn } from './base/files/own-file.ts';
import type { Log } from './base/log.ts';
import { showText } from './base/text/show-text.ts';
import type { CheckedOptions } from './cli/check-settings.ts';
import type { ServeOptions } from './cli/command-line/command.ts';
import { overridesIn } from './cli/command-line/command.ts';
import { describeProblem, isOfCommandLine } from './cli/command-line/describe-problem.ts';
import { isListening } from './cli/command-line/listen-options.ts';
import { openFor } from './cli/command-line/option-error.ts';
import { parseCommandLine } from './cli/command-line/parse-command-line.ts';
import { versionText } from './cli/command-line/version-text.ts';
import { onLostOutput } from './cli/exec/on-lost-output.ts';
import type { WireLog } from './cli/log/wire-log.ts';
import { requireValidOverrides } from './cli/require-valid-overrides.ts';
import type { CommandHost } from './cli/run-command.ts';
import { serve } from './cli/serve.ts';
import type { Service, Streams } from './cli/service.ts';
import { variableProblems } from './cli/variable-problems.ts';
import { workingDirectory } from './cli/working-directory.ts';
import { systemDir } from './config/requirements/system-dir.ts';
import type { Model } from './model/model.ts';
import type { AppParts } from './services/app-parts.ts';
import type { DatabasePlaces } from './store/sqlite/database/open-database.ts';
import { createWorkerStore } from './store/sqlite/worker/create-worker-store.ts';
import { streamTransport } from './transport/stream-transport.ts';

/** The package's version, inserted by the build. */
declare const HEDDLE_VERSION: string;

const WORKER_SCRIPT = join(__dirname, '..', 'bin', 'load-worker.js');
const MIGRATIONS = join(__dirname, '..', 'migrations');
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
    outlivesClients: isListening(options),
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

function wrongVariables(overrides: readonly string[]): Promise<string[]> {
  return variableProblems(process.env, async () => {
    const { configText } = await import('./cli/config-text.ts');
    return [await configText(homeFolder()), ...overrides].join('\n');
  });
}

async function openWireLog(file: string): Promise<WireLog> {
  const { WireLog } = await import('./cli/log/wire-log.ts');
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
    script: WORKER_SCRIPT,
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
    workerScript: WORKER_SCRIPT,
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

function host(): CommandHost {
  return {
    system: process,
    version: HEDDLE_VERSION,
    packageFolder: join(__dirname, '..'),
    home: homeFolder(),
    homeSource: homeSource(),
    systemDir: systemDir(),
    check,
    onSignal,
    fail,
  };
}

async function run(): Promise<void> {
  const command = parseCommandLine(argv);
  const isQuiet = ['serve', 'help', 'version', 'completion'].includes(command.run);
  const problems = isQuiet ? [] : await wrongVariables(overridesIn(command));
  for (const problem of problems) process.stderr.write(`warning: ${showText(problem)}\n`);
  if (!['serve', 'exec', 'wire'].includes(command.run))
    onLostOutput(process.stdout, (reason) =>
      process.exit(reason === null ? 1 : fail(new Error(reason))),
    );
  switch (command.run) {
    case 'version':
      return void process.stdout.write(versionText(process.argv[1] ?? '', HEDDLE_VERSION));
    case 'exec':
    case 'wire':
      return (await import('./cli/converse.ts'))
        .converse(command, { ...host(), start, onFault })
        .catch((error: unknown) => process.exit(fail(error)));
    case 'serve':
      return serve(command.options, {
        ...{ ...host(), start, onFault, wrongVariables },
        openListeners: async (...given) =>
          (await import('./cli/open-listeners.ts')).openListeners(...given),
        greeting: async () =>
          (await import('./cli/greeting.ts')).greeting(join(__dirname, '..', 'docs')),
      });
    default:
      return (await import('./cli/run-command.ts')).runCommand(command, host());
  }
}

/** Says why the process ends, and returns its exit code. */
function fail(error: unknown, exitCode = isOfCommandLine(error) ? 2 : 1): number {
  process.stderr.write(`heddle: ${showText(describeProblem(error, argv), { multiline: true })}\n`);
  process.exitCode = exitCode;
  return exitCode;
}

run().catch((error: unknown) => fail(error));
