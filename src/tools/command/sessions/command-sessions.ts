import type { Clock } from '../../../base/clock.ts';
import { KeyedQueue, SerialQueue } from '../../../base/keyed-queue.ts';
import { awaitKill } from '../../../sandbox/processes/await-kill.ts';
import type { Processes } from '../../../sandbox/processes/processes.ts';
import type { CommandSession } from './command-session.ts';

/** The most commands of one thread that may run at a time. */
export const SESSIONS_MAX = 64;
/** The most ended commands that are kept until the model has read their end. */
const UNREAD_ENDS_MAX = 64;
/**
 * The first number is arbitrary, so that a number from an earlier server process hardly ever
 * matches a session.
 */
const FIRST_NUMBER_MIN = 1_000;
const FIRST_NUMBERS = 90_000;

/** One of the SESSIONS_MAX places for running commands. */
export interface CommandSlot {
  /** The session number of the command. */
  number: number;
  /** The owner of the command's process: thread, turn and session. */
  owner(turnId: string): string[];
  /**
   * Releases the place. To be called when no call waits for the command any more. A background
   * session keeps its place.
   */
  release(): void;
}

/**
 * The running commands of a thread, in a turn or in the background, and the ended ones whose end
 * the model has not read yet.
 */
export class CommandSessions {
  /**
   * The questions to a person about the hosts that commands want to reach: one at a time about
   * each.
   */
  readonly hostQuestions = new KeyedQueue();
  readonly #clock: Clock;
  readonly #processes: Processes;
  readonly #threadId: string;
  #last: number;
  /** The places that are taken by calls of the model, and those by the user's commands too. */
  #called = 0;
  #taken = 0;
  /** The calls that wait for a place: they take places one after another. */
  readonly #queue = new SerialQueue();
  /** Wakes the first of them. */
  #wake: () => void = () => {};
  /** The commands that a call waits for. */
  readonly #waitedFor = new Set<CommandSession>();
  readonly #background = new Map<number, CommandSession>();
  /**
   * By turn id: the owners of ended commands. Processes that these commands started may still run.
   */
  readonly #finished = new Map<string, (readonly string[])[]>();

  constructor({
    clock,
    processes,
    threadId,
  }: { clock: Clock; processes: Processes; threadId: string }) {
    this.#clock = clock;
    this.#processes = processes;
    this.#threadId = threadId;
    this.#last = FIRST_NUMBER_MIN + (clock.now() % FIRST_NUMBERS);
  }

  /**
   * Takes a place for a command of the model. While SESSIONS_MAX are taken and a call still waits
   * for its command, waits for a place, in the order of the calls. Resolves with null if only
   * commands in the background and of the user are left, or if the signal aborts.
   */
  async takeSlot(signal: AbortSignal): Promise<CommandSlot | null> {
    return this.#queue.run(async () => {
      while (this.#isFull && this.#called > 0 && !signal.aborted) await this.#change(signal);
      return this.#isFull || signal.aborted ? null : this.#newSlot(true);
    });
  }

  /** Takes a place for a command of the user. Users are never refused. */
  takeUserSlot(): CommandSlot {
    return this.#newSlot(false);
  }

  #newSlot(isCalled: boolean): CommandSlot {
    const count = isCalled ? 1 : 0;
    this.#called += count;
    this.#taken++;
    const number = ++this.#last;
    let open = true;
    const release = () => {
      if (!open) return;
      open = false;
      this.#called -= count;
      this.#taken--;
      this.#wake();
    };
    return { number, owner: (turnId) => [this.#threadId, turnId, String(number)], release };
  }

  get #isFull(): boolean {
    return this.#taken + this.running.length >= SESSIONS_MAX;
  }

  /** Resolves when a place may be free, or the signal aborts. */
  #change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#wake = done;
      signal.addEventListener('abort', done);
    });
  }

  /** To be called when a call begins to wait for a session. */
  begin(session: CommandSession): void {
    this.#waitedFor.add(session);
  }

  /** To be called when a session has ended while a call waited for it. */
  finish(session: CommandSession): void {
    this.#waitedFor.delete(session);
    const { turnId, owner } = session;
    this.#finished.set(turnId, [...(this.#finished.get(turnId) ?? []), owner]);
  }

  /** To be called when a session continues in the background. */
  yield(session: CommandSession): void {
    this.#waitedFor.delete(session);
    this.#background.set(session.number, session);
    void session.ended.then(() => {
      this.#forgetOldEnds();
      this.#wake();
      return this.#processes.tidy();
    });
  }

  /** To be called when the model has read the end of a session. */
  forget(session: CommandSession): void {
    this.#background.delete(session.number);
  }

  /**
   * The background session with this number, which may have ended. Returns null if there is none.
   */
  find(number: number): CommandSession | null {
    return this.#background.get(number) ?? null;
  }

  /** The running background sessions, the latest first. */
  get running(): CommandSession[] {
    return [...this.#background.values()]
      .filter(({ end }) => end === null)
      .sort((a, b) => b.number - a.number);
  }

  /**
   * Kills a running background session. `processId` is its number as a string. Returns false if
   * there is none.
   */
  async terminate(processId: string): Promise<boolean> {
    const session = this.running.find(({ number }) => String(number) === processId);
    if (session !== undefined) await this.#killAll([session]);
    return session !== undefined;
  }

  /** Kills all background sessions. */
  async clean(): Promise<void> {
    await this.#killAll(this.running);
  }

  /**
   * To be called when a turn ends. If it was interrupted, kills the processes that its ended
   * commands left behind.
   */
  async turnEnded(turnId: string, { interrupted }: { interrupted: boolean }): Promise<void> {
    const owners = this.#finished.get(turnId) ?? [];
    this.#finished.delete(turnId);
    if (owners.length > 0) await this.#processes.tidy();
    if (interrupted)
      await awaitKill(
        Promise.all(owners.map((owner) => this.#processes.killOwned(owner))),
        this.#clock,
      );
  }

  /** Kills all commands of the thread, and the processes that they left behind. */
  async close(): Promise<void> {
    await this.#killAll([...this.#waitedFor, ...this.running]);
    await awaitKill(this.#processes.killOwned([this.#threadId]), this.#clock);
    await Promise.all(
      [...this.#background.values()].flatMap(({ shown }) => shown.completing ?? []),
    );
  }

  async #killAll(sessions: readonly CommandSession[]): Promise<void> {
    await Promise.all(sessions.map((session) => session.kill()));
    await this.#processes.tidy();
  }

  #forgetOldEnds(): void {
    const ended = [...this.#background.values()].filter(({ end }) => end !== null);
    for (const session of ended.slice(0, Math.max(0, ended.length - UNREAD_ENDS_MAX)))
      this.forget(session);
  }
}
