import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { expect, onTestFinished, vi } from 'vitest';
import { tempFolder, writeFiles } from '../config/temp-folder.ts';
import { type Message, TestClient } from '../support/test-client.ts';

export const EXECUTABLE = join(dirname(dirname(import.meta.dirname)), 'bin', 'heddle.js');
const PINO_ERROR = '"level":50';

/** The folders of a test: nothing that the test starts writes elsewhere. They go with it. */
export interface Place {
  home: string;
  work: string;
  temp: string;
}

/** `files` by their paths in the home. */
export function place(files: Record<string, string | Buffer> = {}): Place {
  const folder = tempFolder();
  const [home, work, temp] = ['home', 'work', 'tmp'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const path of [home, work, temp]) mkdirSync(path);
  writeFiles(home, files);
  return { home, work, temp };
}

/** All that a process of heddle is given of the environment. */
export function environment({ home, work, temp }: Place): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '',
    HOME: work,
    TMPDIR: temp,
    HEDDLE_HOME: home,
    XDG_STATE_HOME: join(dirname(home), 'state'),
  };
}

export interface ProcessOptions {
  args?: string[];
  env?: Record<string, string>;
  /** A command that runs the server in its own place: it ends with `exec "$@"`. */
  through?: string[];
  /** False: nothing is said until the test says it. */
  handshake?: boolean;
  /** False: what the server writes stays unread until `read()`. */
  reading?: boolean;
  /** The test wants errors in the log. */
  errorsLogged?: boolean;
  /** Another heddle.js than that of the checkout. */
  executable?: string;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/**
 * The built executable as a process, and its client. Whatever it waits for fails when the process
 * ends first.
 */
export class HeddleProcess extends TestClient {
  /** Resolves when the process has ended. */
  readonly exit: Promise<Exit>;
  /** Whether the process has ended. */
  hasEnded = false;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly pid: number;
  /** The source of the log. */
  readonly log: Readable;
  stderr = '';
  readonly #child: ChildProcess;
  /** Rejects when the process has ended and all that it wrote has been read. */
  readonly #over: Promise<never>;

  constructor(
    where: Place,
    { args = ['app-server'], env = {}, through = [], executable = EXECUTABLE }: ProcessOptions,
  ) {
    const [command = '', ...rest] = [...through, process.execPath, executable, ...args];
    const child = spawn(command, rest, {
      cwd: where.work,
      env: { ...environment(where), ...env },
      stdio: 'pipe',
    });
    const over = new Promise<string>((resolve) => {
      child.once('close', (code, signal) =>
        resolve(`the server ended (${signal ?? code})\n${this.stderr.slice(-2000)}`),
      );
    });
    super(over);
    this.#child = child;
    this.pid = child.pid ?? 0;
    this.stdin = child.stdin;
    this.stdout = child.stdout;
    this.log = child.stderr;
    child.stdin.on('error', () => {});
    this.input.pipe(child.stdin);
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    this.exit = new Promise((resolve) =>
      child.once('exit', (code, signal) => resolve({ code, signal })),
    );
    void this.exit.then(() => {
      this.hasEnded = true;
    });
    this.#over = over.then((how) => Promise.reject(new Error(how)));
    this.ended = this.#over.catch(() => {});
  }

  override read(): void {
    super.read();
    this.stdout.pipe(this.output);
  }

  override next(what: string, predicate: (message: Message) => boolean): Promise<Message> {
    return Promise.race([super.next(what, predicate), this.#over]);
  }

  /** The next so many messages, as they come. */
  async take(count: number): Promise<Message[]> {
    const start = this.messages.length;
    if (count > 0)
      await this.next(`${count} messages`, () => this.messages.length >= start + count);
    return this.messages.slice(start, start + count);
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  async kill(): Promise<Exit> {
    this.signal('SIGKILL');
    return this.exit;
  }

  /** Closes the input and gives how the process ended, once all that it wrote has been read. */
  async finish(): Promise<Exit> {
    await this.close();
    return this.exit;
  }

  /** Resident memory in MB, now and at its highest. */
  memory(): { now: number; peak: number } {
    const status = readFileSync(`/proc/${this.pid}/status`, 'utf8');
    const mb = (field: string) =>
      (Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024) / 1e6;
    return { now: mb('VmRSS'), peak: mb('VmHWM') };
  }

  /** Processor time used so far, in ticks of a hundredth of a second. */
  ticks(): number {
    const [utime = '', stime = ''] =
      readFileSync(`/proc/${this.pid}/stat`, 'utf8').split(') ')[1]?.split(' ').slice(11, 13) ?? [];
    return Number(utime) + Number(stime);
  }

  /**
   * Resolves when the process has used no processor time between two looks: it has done all that it
   * can do now.
   */
  async atRest(): Promise<void> {
    let before = -1;
    await vi.waitFor(
      () => {
        const now = this.ticks();
        const rests = now === before;
        before = now;
        expect(rests).toBe(true);
      },
      { timeout: 30_000, interval: 300 },
    );
  }

  /** The ids of the processes that it has started and that live. */
  children(): string[] {
    return readdirSync(`/proc/${this.pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${this.pid}/task/${thread}/children`, 'utf8')
        .split(' ')
        .filter((id) => id !== ''),
    );
  }

  /** Whole lines of the log that tell of an error, or are none of the log's. */
  errors(): string[] {
    const lines = this.stderr.split('\n').slice(0, -1);
    return lines.filter((line) => line.includes(PINO_ERROR) || !/^(\{.*\})?$/.test(line));
  }
}

/** Starts the server for the running test, which ends it, and checks what it sent and logged. */
export async function startHeddle(
  where: Place,
  options: ProcessOptions = {},
): Promise<HeddleProcess> {
  const heddle = new HeddleProcess(where, options);
  onTestFinished(async () => {
    await heddle.kill();
    expect(heddle.problems).toEqual([]);
    if (options.errorsLogged !== true) expect(heddle.errors()).toEqual([]);
  });
  const { reading = true, handshake = true } = options;
  if (reading) heddle.read();
  if (handshake && reading) await heddle.initialize();
  return heddle;
}

/** Runs a shell's `ulimit` or another setting first, and then the server in its place. */
export function afterShell(setting: string): string[] {
  return ['/bin/sh', '-c', `${setting}; exec "$@"`, 'sh'];
}

/**
 * A config.toml whose model is a provider on this machine, which is asked again only where
 * `settings` says so.
 */
export function providerToml(port: number, settings: Record<string, number> = {}): string {
  const provider = {
    request_max_retries: 0,
    stream_max_retries: 0,
    stream_idle_timeout_ms: 5_000,
    ...settings,
  };
  const lines = Object.entries(provider).map(([key, value]) => `${key} = ${value}`);
  return `model = "m"\nmodel_provider = "fake"\n[model_providers.fake]\nbase_url = "http://127.0.0.1:${port}/v1"\n${lines.join('\n')}\n`;
}

/** The environment of the tests, without what heddle reads of it. */
export function neutralEnvironment(): Record<string, string> {
  const others = Object.entries(process.env).filter(([name]) => !/^(?:HEDDLE|OPENAI)_/.test(name));
  return Object.fromEntries(others.map(([name, value = '']) => [name, value]));
}

/** A prompt to the embedded model that applies a patch of these lines. */
export function patchPrompt(...lines: string[]): string {
  return `call apply_patch ${JSON.stringify({ input: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n') })}`;
}
