import type { Clock } from '../../../base/clock.ts';
import type { Processes } from '../../../sandbox/processes/processes.ts';
import { type CommandSession, killed } from './command-session.ts';

/** How many commands of one thread may run at a time. */
export const SESSIONS_MAX = 64;
/** How many commands that have ended are kept until the model has read how. */
const UNREAD_ENDS_MAX = 64;
/** Numbers begin at an arbitrary one, so that one of an earlier process names nothing. */
const FIRST_NUMBER_MIN = 1_000;
const FIRST_NUMBERS = 90_000;

/** A place for a command among those that run. */
export interface CommandSlot {
  /** What it is known by. */
  number: number;
  /** Whom its process runs for. */
  owner(turnId: string): string[];
  /** To be called when no call waits for it any more. */
  release(): void;
}

/** The commands of a thread that run, in a turn or in the background, and those whose end the model has not read yet. */
export class CommandSessions {
  readonly #clock: Clock;
  readonly #processes: Processes;
  readonly #threadId: string;
  #last: number;
  #called = 0;
  /** Those that a call waits for. */
  readonly #waitedFor = new Set<CommandSession>();
  readonly #background = new Map<number, CommandSession>();
  /** Of commands that have ended, whom they ran for: something that they started may still run. */
  readonly #finished = new Map<string, (readonly string[])[]>();

  constructor({ clock, processes, threadId }: { clock: Clock; processes: Processes; threadId: string }) {
    this.#clock = clock;
    this.#processes = processes;
    this.#threadId = threadId;
    this.#last = FIRST_NUMBER_MIN + (clock.now() % FIRST_NUMBERS);
  }

  /** Takes a place for one more; null: as many run as may. */
  takeSlot(): CommandSlot | null {
    return this.#called + this.running.length < SESSIONS_MAX ? this.takeUserSlot() : null;
  }

  /** The same for the user, who is not refused. */
  takeUserSlot(): CommandSlot {
    this.#called++;
    const number = ++this.#last;
    let open = true;
    const release = () => {
      if (open) this.#called--;
      open = false;
    };
    return { number, owner: (turnId) => [this.#threadId, turnId, String(number)], release };
  }

  /** A call waits for it. */
  begin(session: CommandSession): void {
    this.#waitedFor.add(session);
  }

  /** It has ended while a call waited for it. */
  finish(session: CommandSession): void {
    this.#waitedFor.delete(session);
    const { turnId, owner } = session;
    this.#finished.set(turnId, [...(this.#finished.get(turnId) ?? []), owner]);
  }

  /** It goes on without a call that waits. */
  yield(session: CommandSession): void {
    this.#waitedFor.delete(session);
    this.#background.set(session.number, session);
    void session.ended.then(() => this.#forgetOldEnds());
  }

  /** The model has read how it ended. */
  forget(session: CommandSession): void {
    this.#background.delete(session.number);
  }

  /** One in the background, though it may have ended. */
  find(number: number): CommandSession | null {
    return this.#background.get(number) ?? null;
  }

  /** Those that run in the background, the latest first. */
  get running(): CommandSession[] {
    return [...this.#background.values()].filter(({ end }) => end === null).sort((a, b) => b.number - a.number);
  }

  /** Kills one that runs in the background, by its number as a text. False: none of that number does. */
  async terminate(processId: string): Promise<boolean> {
    const session = this.running.find(({ number }) => String(number) === processId);
    await session?.kill();
    return session !== undefined;
  }

  /** Kills all that run in the background. */
  async clean(): Promise<void> {
    await Promise.all(this.running.map((session) => session.kill()));
  }

  /** A turn has ended. What its finished commands left behind dies with an interrupt, and else goes on. */
  async turnEnded(turnId: string, { interrupted }: { interrupted: boolean }): Promise<void> {
    const owners = this.#finished.get(turnId) ?? [];
    this.#finished.delete(turnId);
    if (interrupted) await killed(Promise.all(owners.map((owner) => this.#processes.killOwned(owner))), this.#clock);
  }

  /** Kills all of the thread, and what it left behind. */
  async close(): Promise<void> {
    await Promise.all([...this.#waitedFor, ...this.running].map((session) => session.kill()));
    await killed(this.#processes.killOwned([this.#threadId]), this.#clock);
    await Promise.all([...this.#background.values()].flatMap(({ shown }) => shown.whole ?? []));
  }

  #forgetOldEnds(): void {
    const ended = [...this.#background.values()].filter(({ end }) => end !== null);
    for (const session of ended.slice(0, Math.max(0, ended.length - UNREAD_ENDS_MAX))) this.forget(session);
  }
}
