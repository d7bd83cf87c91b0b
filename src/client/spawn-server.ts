import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { isFolder } from '../base/is-folder.ts';
import { Client } from './client.ts';
import type { ClientOptions } from './client-options.ts';

export interface SpawnOptions extends ClientOptions {
  /** An app-server's executable; by default heddle, of this package. */
  command?: string;
  /** By default `app-server`. */
  args?: readonly string[];
  cwd?: string;
  /** All of the server's environment. By default this process's own. */
  env?: NodeJS.ProcessEnv;
  /** The folder where the server keeps its threads and reads its config.toml: HEDDLE_HOME, and CODEX_HOME for others. */
  home?: string;
  /** Told of the server's log as it comes. By default it is dropped, but for the last lines, which errors show. */
  onStderr?: (text: string) => void;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

type Server = ChildProcessByStdio<Writable, Readable, Readable>;

/** How it ended; `error` where it never started. */
type End = Exit & { error: Error | null };

/** How long an orderly end may take before it is asked for with SIGTERM, and after that before the process is killed. */
const CLOSE_MS_MAX = 5000;
const TERMINATE_MS_MAX = 2000;
/** How long the pipes of a server that has exited may stay open, held by a process that it had started. */
const PIPES_MS_MAX = 1000;
/** How much of the log an error shows. */
const LOG_TAIL_CHARS = 2000;

/**
 * Starts a server and attaches to it. It ends with `close()`, and at the latest with this process. Never throws: where
 * nothing can be started, whatever the reason, every request rejects with a text that says so.
 */
export function spawnServer(options: SpawnOptions = {}): SpawnedClient {
  return new SpawnedClient(options);
}

/** The client of a server that is a process of its own. */
export class SpawnedClient extends Client {
  /** Undefined where it could not be started. */
  readonly pid: number | undefined;
  /** Resolves when the process is gone and all that it wrote has been read; both members null where it never started. */
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
      return `the server has ended (${signal ?? `exit code ${code}`})${log.trim() === '' ? '' : `; the end of its log:\n${log.trim()}`}`;
    });
    super({ input: server?.stdout ?? new PassThrough(), output: server?.stdin ?? new PassThrough() }, others, over);
    this.#server = server;
    this.pid = server?.pid;
    this.exit = ended.then(({ code, signal }) => ({ code, signal }));
    // One that closes a pipe and lives on would leave its clients waiting.
    server?.stdin.on('error', () => void this.#end());
    server?.stdout.once('end', () => void this.#end());
  }

  /** The polite end: the server answers what it has read, and exits. One that does not is killed after some seconds. */
  override async close(): Promise<void> {
    this.closeOutput();
    await this.#end();
    await this.closed;
  }

  /** The rude end. */
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
    return { server, ended: endOf(server, options.cwd) };
  } catch (error) {
    // Options that no process can have: an empty command, an environment that is too large.
    if (!(error instanceof Error)) throw error;
    return { server: null, ended: Promise.resolve(notStarted(error, options.cwd)) };
  }
}

function run({ command, args = ['app-server'], cwd, env = process.env, home }: SpawnOptions): Server {
  const homes = home === undefined ? {} : { HEDDLE_HOME: home, CODEX_HOME: home };
  const [file, ...first] = command === undefined ? [process.execPath, executable()] : [command];
  return spawn(file, [...first, ...args], { cwd, env: { ...env, ...homes }, stdio: ['pipe', 'pipe', 'pipe'] });
}

/** heddle's own, also where this file was bundled into something else. */
function executable(): string {
  return join(dirname(createRequire(import.meta.url).resolve('heddle/package.json')), 'bin', 'heddle.js');
}

/** Servers that run. They may not outlive this process. */
const living = new Set<Server>();

function killAll(): void {
  for (const server of living) server.kill('SIGKILL');
}

function forget(server: Server): void {
  living.delete(server);
  if (living.size === 0) process.off('exit', killAll);
}

/** Of a working folder that is none, the system speaks as of a command that is none. */
function notStarted(error: Error, cwd: string | undefined): End {
  const named = cwd === undefined || isFolder(cwd) ? error : new Error(`its working folder is no folder: ${cwd}`);
  return { code: null, signal: null, error: named };
}

function endOf(server: Server, cwd: string | undefined): Promise<End> {
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
      resolve(notStarted(error, cwd));
    });
  });
}
