import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import type { ClientRequests } from '../../src/protocol/generated/types.ts';

const ANSWER_MS_MAX = 120_000;
const LINE_FEED = 10;
/** The unit of times in /proc. */
const TICK_MS = 10;

export interface Timed<Result> {
  result: Result;
  /**
   * Milliseconds from writing the request to the arrival of the response's last byte, before
   * parsing.
   */
  ms: number;
  /** The time when the response's last byte arrived. */
  at: number;
}

/** Called with complete lines as they arrive. Returns true when it needs no more. */
type Watch = (lines: Buffer, at: number) => boolean;

/** A server that is measured. Times are taken when bytes arrive. */
export class ServerProcess {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #spawnedAt = performance.now();
  readonly #watches = new Set<Watch>();
  #parts: Buffer[] = [];
  #stderr = '';
  #requests = 0;

  constructor(
    [command, ...args]: [string, ...string[]],
    options: { cwd: string; env: NodeJS.ProcessEnv },
  ) {
    this.#child = spawn(command, args, { ...options, stdio: ['pipe', 'pipe', 'pipe'] });
    this.#child.stdin.on('error', () => {});
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = `${this.#stderr}${text}`.slice(-2000);
    });
    this.#child.stdout.on('data', (chunk: Buffer) => this.#read(chunk, performance.now()));
  }

  /** The milliseconds since the process was spawned. */
  get ageMs(): number {
    return performance.now() - this.#spawnedAt;
  }

  /** Performs the handshake. Resolves with the milliseconds from spawning to the response. */
  async initialize(): Promise<number> {
    const { at } = await this.request('initialize', {
      clientInfo: { name: 'bench', version: '1' },
      capabilities: { experimentalApi: true },
    });
    this.write('{"method":"initialized"}\n');
    return at - this.#spawnedAt;
  }

  async request<Method extends keyof ClientRequests>(
    method: Method,
    params: ClientRequests[Method]['params'],
  ): Promise<Timed<ClientRequests[Method]['result']>> {
    const id = ++this.#requests;
    const prefix = `{"id":${id},`;
    let answer = '';
    const answered = this.watch((lines) => {
      const start = startOfLine(lines, prefix);
      if (start === -1) return false;
      answer = lines.toString('utf8', start, lines.indexOf(LINE_FEED, start));
      return true;
    });
    const sentAt = performance.now();
    this.write(`${JSON.stringify({ id, method, params })}\n`);
    const at = await answered;
    const { result, error } = JSON.parse(answer);
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return { result, at, ms: at - sentAt };
  }

  async startThread(cwd: string): Promise<string> {
    const { result } = await this.request('thread/start', { cwd });
    return result.thread.id;
  }

  /**
   * Runs a turn. Resolves with the milliseconds from writing `turn/start` to the arrival of
   * `turn/completed`.
   */
  async turn(threadId: string, text: string): Promise<number> {
    const completed = this.watch((lines) => lines.includes('{"method":"turn/completed"'));
    const sentAt = performance.now();
    const [endedAt] = await Promise.all([
      completed,
      this.request('turn/start', { threadId, input: [{ type: 'text', text }] }),
    ]);
    return endedAt - sentAt;
  }

  write(text: string): void {
    this.#child.stdin.write(text);
  }

  /**
   * Resolves with the time when `watch` returned true. Rejects if the server ends first, or after
   * `msMax`.
   */
  watch(watch: Watch, msMax = ANSWER_MS_MAX): Promise<number> {
    return new Promise((resolve, reject) => {
      const stop = () => {
        this.#watches.delete(watcher);
        this.#child.off('close', onClose);
        clearTimeout(timer);
      };
      const fail = (text: string) => {
        stop();
        reject(new Error(`${text}\n${this.#stderr}`));
      };
      const onClose = () => fail('the server has ended');
      const timer = setTimeout(() => fail(`timed out after ${msMax} ms`), msMax);
      const watcher: Watch = (lines, at) => {
        if (!watch(lines, at)) return false;
        stop();
        resolve(at);
        return true;
      };
      this.#watches.add(watcher);
      this.#child.on('close', onClose);
    });
  }

  /** The current and the highest resident memory, in MiB. NaN if the system has no /proc. */
  memory(): { now: number; peak: number } {
    const status = readProcFile(this.#child.pid ?? 0, 'status');
    const mib = (field: string) =>
      Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1] ?? Number.NaN) / 1024;
    return { now: mib('VmRSS'), peak: mib('VmHWM') };
  }

  /** The processor time that it has used, in milliseconds. NaN if the system has no /proc. */
  cpuMs(): number {
    const fields =
      readProcFile(this.#child.pid ?? 0, 'stat')
        .split(') ')[1]
        ?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const closed = once(this.#child, 'close');
    this.#child.stdin.end();
    await closed;
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  #read(chunk: Buffer, at: number): void {
    const end = chunk.lastIndexOf(LINE_FEED) + 1;
    if (end === 0) {
      this.#parts.push(chunk);
      return;
    }
    const lines = Buffer.concat([...this.#parts, chunk.subarray(0, end)]);
    this.#parts = end === chunk.length ? [] : [chunk.subarray(end)];
    for (const watch of [...this.#watches]) watch(lines, at);
  }
}

function startOfLine(lines: Buffer, prefix: string): number {
  for (let start = lines.indexOf(prefix); start !== -1; start = lines.indexOf(prefix, start + 1)) {
    if (start === 0 || lines[start - 1] === LINE_FEED) return start;
  }
  return -1;
}

function readProcFile(pid: number, name: 'stat' | 'status'): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}
