import { StringDecoder } from 'node:string_decoder';
import { textEnd } from '../base/text/cut-text.ts';
import type { McpStdio } from '../config/mcp/mcp-server-config.ts';
import type { Processes, RunningProcess } from '../sandbox/processes/processes.ts';

/** How much of a server's error output is kept, to say why it ended. */
const STDERR_CHARS_MAX = 2_000;
/** Above so many bytes that the host has not read, the output of the server is not read. */
const UNREAD_BYTES_MAX = 4 * 1024 * 1024;
/**
 * A server that does not take so many bytes of its input is ended. A message counts as at least so
 * many, for the memory that it takes.
 */
const UNTAKEN_BYTES_MAX = 64 * 1024 * 1024;
const MESSAGE_BYTES_MIN = 1024;
/** How long a server may take to end by itself when its input is closed. */
const END_MS_MAX = 1_000;

interface ServerProcessEvents {
  onOutput(bytes: Uint8Array): void;
  /** `reason`: why it ended, with the end of what it wrote to stderr. */
  onEnded(reason: string): void;
}

/** The process of a server on stdio, in a process group and with a mark of its own. */
export class ServerProcess {
  readonly #events: ServerProcessEvents;
  #running: RunningProcess | null = null;
  /** The bytes that wait while it is being started, or while it takes those before. */
  #waiting: Uint8Array[] = [];
  /** The bytes that it has not taken. */
  #untaken = 0;
  #isWriting = false;
  readonly #decoder = new StringDecoder('utf8');
  #stderr = '';
  #unread = 0;
  #isStuck = false;
  #exitCode: number | null = null;
  #isKilled = false;

  constructor(events: ServerProcessEvents) {
    this.#events = events;
  }

  /** Rejects with a `ProcessStartError`. */
  async start(
    name: string,
    { command, args, env, cwd }: McpStdio & { cwd: string },
    processes: Processes,
  ): Promise<void> {
    const running = await processes.start(
      {
        argv: [command, ...args],
        cwd,
        env,
        bounds: null,
        startedFor: { of: `the MCP server ${name}`, kind: 'configured' },
        owner: ['mcp', name],
        input: true,
        terminal: null,
        isBackground: true,
      },
      (stream, bytes) => (stream === 'stdout' ? this.#read(bytes) : this.#note(bytes)),
    );
    this.#running = running;
    void this.#writeTo(running);
    if (this.#isKilled) await running.kill();
    void running.ended.then(({ exitCode }) => {
      this.#exitCode = exitCode;
      if (!this.#isKilled) this.#events.onEnded(this.#ending);
    });
  }

  /** Writes to its input, as soon as it has started. */
  write(bytes: Uint8Array): void {
    if (this.#isStuck) return;
    this.#waiting.push(bytes);
    this.#untaken += sizeOf(bytes);
    if (this.#untaken > UNTAKEN_BYTES_MAX) {
      this.#isStuck = true;
      this.#waiting = [];
      this.#events.onEnded(this.#ending);
    } else if (this.#running !== null) void this.#writeTo(this.#running);
  }

  async #writeTo(running: RunningProcess): Promise<void> {
    if (this.#isWriting) return;
    this.#isWriting = true;
    while (this.#waiting.length > 0) {
      const waiting = this.#waiting.splice(0);
      await running.write(Buffer.concat(waiting));
      this.#untaken -= waiting.reduce((sum, bytes) => sum + sizeOf(bytes), 0);
    }
    this.#isWriting = false;
  }

  /** The host has read so many bytes. */
  taken(bytes: number): void {
    const wasFull = this.#unread > UNREAD_BYTES_MAX;
    this.#unread -= bytes;
    if (wasFull && this.#unread <= UNREAD_BYTES_MAX) this.#running?.resume();
  }

  /**
   * Says that somebody waits for the process. Call the returned function when nobody does any more.
   */
  attend(waitMs: number): () => void {
    return this.#running?.attend(waitMs) ?? (() => {});
  }

  get #ending(): string {
    if (this.#isStuck)
      return `it does not read its input: more than ${UNTAKEN_BYTES_MAX / 1024 / 1024} MiB wait for it`;
    const how =
      this.#exitCode === null ? 'it was stopped' : `it ended with exit code ${this.#exitCode}`;
    const said = this.#stderr.trim();
    return said === '' ? how : `${how}: ${said}`;
  }

  /** Closes its input, and kills what is left of it and its children after a moment. */
  async stop(clock: {
    setTimer(callback: () => void, ms: number): { clear(): void };
  }): Promise<void> {
    this.#isKilled = true;
    const running = this.#running;
    if (running === null) return;
    running.endInput();
    await new Promise<void>((resolve) => {
      const timer = clock.setTimer(resolve, END_MS_MAX);
      void running.ended.then(() => {
        timer.clear();
        resolve();
      });
    });
    await running.kill();
  }

  /** Kills it and all that it started. */
  async kill(): Promise<void> {
    this.#isKilled = true;
    await this.#running?.kill();
  }

  #read(bytes: Buffer): void {
    this.#unread += bytes.length;
    if (this.#unread > UNREAD_BYTES_MAX) this.#running?.pause();
    // The buffer is used again as soon as this returns.
    this.#events.onOutput(new Uint8Array(bytes));
  }

  #note(bytes: Buffer): void {
    this.#stderr = textEnd(this.#stderr + this.#decoder.write(bytes), STDERR_CHARS_MAX);
  }
}

function sizeOf(message: Uint8Array): number {
  return Math.max(message.length, MESSAGE_BYTES_MIN);
}
