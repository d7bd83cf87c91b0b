import { join, resolve } from 'node:path';
import { storeFileIn } from '../base/files/own-file.ts';
import { editInWorker } from '../config/writing/edit-in-worker.ts';
import type { CheckedOptions } from './check-settings.ts';
import type { Command } from './command-line/command.ts';
import { type Terminal, terminalAt } from './terminal/terminal-at.ts';

const SIGINT = 2;

/** A command that runs no server in this process. */
export type OtherCommand = Exclude<Command, { run: 'serve' | 'exec' | 'wire' | 'version' }>;

/** The process of a command, and where things are. */
export interface CommandHost {
  system: NodeJS.Process;
  version: string;
  /** The folder of heddle's package. */
  packageFolder: string;
  home: string;
  /** The variable that names the home. */
  homeSource: string;
  /** The folder of the administrator's limits. */
  systemDir: string | null;
  /** Rejects if the settings of the command line are wrong. */
  check(settings: CheckedOptions): Promise<void>;
  onSignal(handler: (signal: number) => void): void;
  /** Says why the process ends, and returns its exit code. */
  fail(error: unknown, exitCode?: number): number;
}

/** Runs a command. Rejects with an Error for a person. Sets the exit code of the process. */
export async function runCommand(command: OtherCommand, host: CommandHost): Promise<void> {
  const { system, packageFolder, fail } = host;
  const print = (text: string) => void system.stdout.write(text);
  switch (command.run) {
    case 'help':
      return print((await import('./command-line/show-help.ts')).showHelp(command.command));
    case 'proxy': {
      const { connectToSocket } = await import('./connect-to-socket.ts');
      const { homeSocket } = await import('../listen/prepare-socket-folder.ts');
      const path = command.socket === null ? homeSocket(host.home) : resolve(command.socket);
      await connectToSocket(path, host.system);
      return host.system.exit(0);
    }
    case 'completion':
      return print(
        (await import('./command-line/show-completion.ts')).showCompletion(command.shell),
      );
    case 'init':
      return init(command, host).catch((error: unknown) => system.exit(fail(error)));
    case 'trust':
      return trust(command, host);
    case 'store':
      return store(command, host);
    case 'doctor':
      return doctor(command, host);
    case 'generate':
      return (await import('./generate/run-generator.ts')).runGenerator(
        command,
        join(packageFolder, 'schema'),
      );
    case 'request':
      return request(command, host);
    default:
      return command satisfies never;
  }
}

async function init(
  { values }: Extract<Command, { run: 'init' }>,
  host: CommandHost,
): Promise<void> {
  const { runInit } = await import('./init/run-init.ts');
  const { home, systemDir, version, onSignal } = host;
  const { system } = host;
  const { env, stdin, stdout, stderr } = system;
  const exitCode = await runInit(values, {
    ...{ home, cwd: system.cwd(), env, systemDir, version, stdin, stdout, stderr, onSignal },
    editToml: editInWorker(join(host.packageFolder, 'bin', 'load-worker.js')),
    exit: (code) => system.exit(code),
  });
  // A provider that does not answer would be waited for.
  stdout.write('', () => system.exit(exitCode));
}

async function trust(
  { folder, yes }: Extract<Command, { run: 'trust' }>,
  { system, home, systemDir }: CommandHost,
): Promise<void> {
  const { trustProject } = await import('./trust-project.ts');
  const options = { home, systemDir, folder: resolve(folder), yes };
  system.exitCode = (await trustProject(options, terminalOf(system))) ? 0 : 1;
}

async function store(
  { action, file, json }: Extract<Command, { run: 'store' }>,
  { system, home, packageFolder }: CommandHost,
): Promise<void> {
  const { maintainStore } = await import('./maintain-store.ts');
  const { stdout, stderr, env, versions } = system;
  const isWell = await maintainStore(
    {
      action,
      json,
      target: file === null ? null : resolve(file),
      file: storeFileIn(home),
      migrationsDir: join(packageFolder, 'migrations'),
      nodeVersions: versions,
      workerScript: join(packageFolder, 'bin', 'load-worker.js'),
    },
    { print: (text) => void stdout.write(text), stderr, env },
  );
  system.exitCode = isWell ? 0 : 1;
}

async function doctor(
  { settings, json }: Extract<Command, { run: 'doctor' }>,
  { system, version, packageFolder, home, homeSource, systemDir, check }: CommandHost,
): Promise<void> {
  await check(settings);
  const { runDoctor } = await import('./doctor/run-doctor.ts');
  const { env, platform, versions, execPath, stdout, stderr } = system;
  const isWell = await runDoctor(
    {
      ...{ home, homeSource, systemDir, cwd: system.cwd(), env, json, version, platform },
      overrides: settings.overrides,
      sendSignal: (pid, signal) => system.kill(pid, signal),
      nodeVersions: versions,
      installation: { manifest: join(packageFolder, 'package.json'), executable: execPath },
    },
    { print: (text) => void stdout.write(text), stderr },
  );
  stdout.write('', (error) => (error ? undefined : system.exit(isWell ? 0 : 1)));
}

async function request(
  { request: wanted, settings }: Extract<Command, { run: 'request' }>,
  { system, version, packageFolder, check }: CommandHost,
): Promise<void> {
  await check(settings);
  const { runRequest } = await import('./requests/run-request.ts');
  const { execPath, env, stderr } = system;
  const server: [string, string] = [execPath, join(packageFolder, 'bin', 'heddle.js')];
  const options = { server, overrides: settings.overrides, version, env, stderr };
  system.exitCode = (await runRequest(wanted, options, terminalOf(system))) ? 0 : 1;
}

function terminalOf(system: NodeJS.Process): Terminal {
  const { stdin, stdout, stderr, env } = system;
  const onInterrupt = () => system.exit(128 + SIGINT);
  return terminalAt({ stdin, stdout, stderr, env, onInterrupt });
}
