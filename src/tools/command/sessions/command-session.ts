import type { Clock } from '../../../base/clock.ts';
import type { PausableTimers } from '../../../base/pausable-timers.ts';
import { awaitKill } from '../../../sandbox/processes/await-kill.ts';
import type { RunningProcess } from '../../../sandbox/processes/processes.ts';
import { endInterrupted } from './end-interrupted.ts';
import type { ShownCommand } from './shown-command.ts';

/** How a command ended. */
interface CommandEnd {
  exitCode: number;
}

interface CommandSessionOptions {
  number: number;
  owner: readonly string[];
  turnId: string;
  /** The command as people read it. */
  text: string;
  cwd: string;
  /** Whether its stdin can be written to. */
  hasInput: boolean;
  /** Whether the command itself needed approval. */
  wasAskedAbout: boolean;
  shown: ShownCommand;
  program: RunningProcess;
  clock: Clock;
  /** Of the waits for the command. While they are paused, no time of a wait passes. */
  timers: PausableTimers;
  /** Closed with the command. Null: it has none. */
  proxy: { close(): void } | null;
}

/** A running command. */
export class CommandSession {
  readonly number: number;
  readonly owner: readonly string[];
  readonly turnId: string;
  readonly text: string;
  readonly cwd: string;
  readonly hasInput: boolean;
  readonly wasAskedAbout: boolean;
  readonly shown: ShownCommand;
  readonly program: RunningProcess;
  /** Resolves when the command has ended. Never rejects. */
  readonly ended: Promise<CommandEnd>;
  readonly #gone = new AbortController();
  #end: CommandEnd | null = null;
  /** Aborts when the last Ctrl-C has had its effect. Null: there was none. */
  #interrupted: AbortController | null = null;
  #killing: Promise<void> | null = null;
  readonly #clock: Clock;
  readonly #timers: PausableTimers;
  readonly #proxy: { close(): void } | null;

  constructor({ shown, program, clock, timers, proxy, ...facts }: CommandSessionOptions) {
    this.number = facts.number;
    this.owner = facts.owner;
    this.turnId = facts.turnId;
    this.text = facts.text;
    this.cwd = facts.cwd;
    this.hasInput = facts.hasInput;
    this.wasAskedAbout = facts.wasAskedAbout;
    this.shown = shown;
    this.program = program;
    this.#clock = clock;
    this.#timers = timers;
    this.#proxy = proxy;
    this.ended = program.ended.then(({ exitCode }) => {
      proxy?.close();
      this.#end = { exitCode };
      this.#gone.abort();
      this.#interrupted?.abort();
      return this.#end;
    });
  }

  /** Aborts when the command has ended. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** Null while the command runs. */
  get end(): CommandEnd | null {
    return this.#end;
  }

  /** Resolves when the command has ended, when `ms` have passed, or when the signal aborts. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const leave = this.program.attend(ms);
    let stop = () => {};
    const over = new Promise<void>((resolve) => {
      stop = resolve;
    });
    const timer = this.#timers.setTimer(stop, ms);
    signal.addEventListener('abort', stop);
    void this.ended.then(stop);
    await over;
    timer.clear();
    signal.removeEventListener('abort', stop);
    leave();
  }

  /** Writes to its terminal. Does not wait: the program may read its input much later. */
  write(chars: string): void {
    this.#interrupted?.abort();
    void this.program.write(Buffer.from(chars));
  }

  /**
   * Interrupts the command as Ctrl-C does, and ends it if it does not end then. Resolves when it is
   * interrupted.
   */
  async interrupt(): Promise<void> {
    // What a program in a terminal prints after the last Ctrl-C counts. Without a terminal, a
    // further one gives no more time.
    if (this.hasInput) this.#interrupted?.abort();
    await this.program.interrupt();
    if (this.#interrupted?.signal.aborted !== false) this.#endInterrupted();
  }

  #endInterrupted(): void {
    this.#interrupted = new AbortController();
    if (this.#end !== null) this.#interrupted.abort();
    void endInterrupted(this, this.#clock, this.#interrupted.signal);
  }

  /** Completes its item. To be called after the command has ended. */
  complete(): Promise<void> {
    return this.shown.complete({ exitCode: this.#end?.exitCode ?? null });
  }

  /**
   * Kills the command and all processes that it started. Resolves when it has ended, or after a few
   * seconds.
   */
  kill(): Promise<void> {
    this.#killing ??= this.#kill();
    return this.#killing;
  }

  async #kill(): Promise<void> {
    this.shown.mute();
    this.#proxy?.close();
    await awaitKill(
      this.program.kill().then(() => this.ended),
      this.#clock,
    );
  }
}
