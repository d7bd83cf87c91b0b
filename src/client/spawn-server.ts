import type { ChildProcessByStdio } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { isFolder } from '../base/paths/is-folder.ts';
import { spawnProgram } from '../base/processes/spawn-program.ts';
import { KIND, requireOptions } from '../base/text/require-options.ts';
import { Client } from './client.ts';
import type { ClientOptions } from './client-options.ts';
import { CLIENT_OPTIONS } from './require-client-options.ts';

export interface SpawnOptions extends ClientOptions {
  /** The executable of an app-server. By default heddle, from this package. */
  command?: string;
  /** By default `app-server`. */
  args?: readonly string[];
  cwd?: string;
  /** The server's whole environment. By default that of this process. */
  env?: NodeJS.ProcessEnv;
  /**
   * The folder of the server's threads and config.toml: sets HEDDLE_HOME, and CODEX_HOME for other
   * servers.
   */
  home?: string;
  /** Called with the server's log as it comes. Errors show its last lines in any case. */
  onStderr?: (text: string) => void;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

type Server = ChildProcessByStdio<Writable, Readable, Readable>;

/** How the process ended. `error` is set if it never started. */
type End = Exit & { error: Error | null };

/**
 * How long the server may take to exit before it gets SIGTERM, and after that before it gets
 * SIGKILL.
 */
const CLOSE_MS_MAX = 5000;
const TERMINATE_MS_MAX = 2000;
/**
 * How long pipes may stay open after the server has exited: a process that it started may hold
 * them.
 */
const PIPES_MS_MAX = 1000;
/** The length of the log's end that an error shows. */
const LOG_TAIL_CHARS = 2000;

/**
 * Starts a server and connects to it. The server ends with `close()`, and at the latest with this
 * process. If the server cannot be started, every request rejects with the reason. Throws a
 * TypeError of one line if an option does not exist or is wrong.
 */
export function spawnServer(options: SpawnOptions = {}): SpawnedClient {
  requireOptions<SpawnOptions>('spawnServer', options, {
    ...CLIENT_OPTIONS,
    command: KIND.string,
    args: KIND.strings,
    cwd: KIND.string,
    env: KIND.variables,
    home: KIND.string,
    onStderr: KIND.function,
  });
  return new SpawnedClient(options);
}

/** A client with a server in a process of its own. */
export class SpawnedClient extends Client {
  /** Undefined if the server could not be started. */
  readonly pid: number | undefined;
  /**
   * Resolves when the process has ended and its output has been read. Both fields are null if it
   * never started.
   */
  readonly exit: Promise<Exit>;
  readonly #server: Server | null;

  constructor(options: SpawnOptions) {
    const { onStderr, ...others } = options;
    const { server, ended } = start(options);
    let log = '';
    server?.stderr.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-LOG_TAIL_CHARS);
      onStderr?.(text);
    });
    const over = ended.then(({ code, signal, error }) => {
      if (error !== null) return `the server could not be started: ${error.message}`;
      return `the server exited (${signal ?? `exit code ${code}`})${log.trim() === '' ? '' : `; the end of its log:\n${log.trim()}`}`;
    });
    super(
      { input: server?.stdout ?? new PassThrough(), output: server?.stdin ?? new PassThrough() },
      others,
      over,
    );
    this.#server = server;
    this.pid = server?.pid;
    this.exit = ended.then(({ code, signal }) => ({ code, signal }));
    // A server that closes a pipe and lives on would leave its client waiting.
    server?.stdin.on('error', () => void this.#end());
    server?.stdout.once('end', () => void this.#end());
  }

  /**
   * Closes the server's input: it responds to the requests that it has read, and exits. Kills it if
   * it does not exit within seconds.
   */
  override async close(): Promise<void> {
    this.closeOutput();
    await this.#end();
    await this.closed;
  }

  /** Kills the server at once. */
  async kill(): Promise<Exit> {
    this.#server?.kill('SIGKILL');
    return this.exit;
  }

  async #end(): Promise<void> {
    this.#server?.stdin.end();
    const timers = [
      setTimeout(() => this.#server?.kill('SIGTERM'), CLOSE_MS_MAX),
      setTimeout(() => this.#server?.kill('SIGKILL'), CLOSE_MS_MAX + TERMINATE_MS_MAX),
    ];
    await this.exit;
    for (const timer of timers) clearTimeout(timer);
  }
}

function start(options: SpawnOptions): { server: Server | null; ended: Promise<End> } {
  try {
    const server = run(options);
    living.add(server);
    if (living.size === 1) process.on('exit', killAll);
    return { server, ended: endOf(server, options) };
  } catch (error) {
    // The options are impossible: an empty command, or an environment that is too large.
    if (!(error instanceof Error)) throw error;
    return { server: null, ended: Promise.resolve(notStarted(error, options)) };
  }
}

function run({
  command,
  args = ['app-server'],
  cwd,
  env = process.env,
  home,
}: SpawnOptions): Server {
  const homes = home === undefined ? {} : { HEDDLE_HOME: home, CODEX_HOME: home };
  const [file, ...first] = command === undefined ? [process.execPath, executable()] : [command];
  return spawnProgram(file, [...first, ...args], {
    cwd,
    env: { ...env, ...homes },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

/** heddle's executable, also if this file was bundled into another program. */
function executable(): string {
  return join(
    dirname(createRequire(import.meta.url).resolve('heddle/package.json')),
    'bin',
    'heddle.js',
  );
}

/** The servers that run. They must not outlive this process. */
const living = new Set<Server>();

function killAll(): void {
  for (const server of living) server.kill('SIGKILL');
}

function forget(server: Server): void {
  living.delete(server);
  if (living.size === 0) process.off('exit', killAll);
}

/**
 * The system's error names the command, even if the folder is missing or the command has arguments
 * in it.
 */
function notStarted(error: Error, { command, cwd }: SpawnOptions): End {
  const end = { code: null, signal: null };
  if (cwd !== undefined && !isFolder(cwd))
    return { ...end, error: new Error(`its working directory is not a directory: ${cwd}`) };
  const { code } = error as NodeJS.ErrnoException;
  const isMissing = command !== undefined && code === 'ENOENT';
  const hasArguments = command !== undefined && /\s/.test(command.trim());
  const advice = hasArguments
    ? ': `command` is one program, and its arguments belong in `args`'
    : isMissing
      ? ': there is no such program, or it is not in the PATH'
      : '';
  return { ...end, error: new Error(`${error.message}${advice}`, { cause: error }) };
}

function endOf(server: Server, options: SpawnOptions): Promise<End> {
  return new Promise((resolve) => {
    let pipes: NodeJS.Timeout | undefined;
    server.once('exit', () => {
      pipes = setTimeout(() => {
        server.stdout.destroy();
        server.stderr.destroy();
      }, PIPES_MS_MAX);
    });
    server.once('close', (code, signal) => {
      clearTimeout(pipes);
      forget(server);
      resolve({ code, signal, error: null });
    });
    server.once('error', (error) => {
      if (server.pid !== undefined) return;
      forget(server);
      resolve(notStarted(error, options));
    });
  });
}
