import type { Timer } from '../../base/clock.ts';
import { EventLoopYield } from '../../base/event-loop-yield.ts';
import type { InterruptCause } from '../../tools/denial.ts';
import type { AgentCounts } from '../lineage/agent-counts.ts';
import type { Services } from '../services.ts';
import { IdleAgents } from './idle-agents.ts';
import type { LoadedThread } from './loaded-thread.ts';
import type { LoadedThreads } from './loaded-threads.ts';

/** How long a loaded thread without followers stays in memory after its last turn. */
const IDLE_MS_MAX = 30 * 60 * 1000;
/**
 * How many agents of a session stay loaded without a turn. The others are loaded again when they
 * are sent input.
 */
const IDLE_AGENTS_MAX = 16;
/** The work of closing a thread, in the units of `EventLoopYield`. */
const CLOSE_UNITS = 1_000;

/** Knows which threads have clients. */
export interface Attendance {
  /** Whether a client follows the thread. */
  isFollowed(threadId: string): boolean;
  /**
   * Whether the thread may begin turns by itself: a follower can still send messages, or the server
   * needs none.
   */
  isAttended(threadId: string): boolean;
  /** Whether input that has waited may begin turns: a client is there, or none is needed. */
  readonly isReachable: boolean;
}

/** Unloads threads: idle ones after a while, and all of them at the end of the server. */
export class ThreadUnloader {
  readonly #loaded: LoadedThreads;
  readonly #services: Pick<Services, 'runtime' | 'clients' | 'limits'>;
  readonly #attendance: Attendance;
  readonly #counts: AgentCounts;
  readonly #idle = new Map<string, Timer>();
  readonly #idleAgents = new IdleAgents(IDLE_AGENTS_MAX);
  /** The loaded agents that a client has opened itself. */
  readonly #opened = new Set<string>();
  /**
   * Many threads may be closed at once, by the end of the server or by timers that were set
   * together.
   */
  readonly #breaks = new EventLoopYield();
  #closing: Promise<void> | null = null;

  /** `counts`: forget the threads that are unloaded. */
  constructor(
    loaded: LoadedThreads,
    services: Pick<Services, 'runtime' | 'clients' | 'limits'>,
    attendance: Attendance,
    counts: AgentCounts,
  ) {
    this.#loaded = loaded;
    this.#services = services;
    this.#attendance = attendance;
    this.#counts = counts;
  }

  /** Starts the timer that unloads a thread without followers or a running turn. */
  unloadWhenIdle(threadId: string): void {
    this.keepLoaded(threadId);
    const thread = this.#loaded.find(threadId);
    if (
      this.#closing !== null ||
      thread === null ||
      thread.turn !== null ||
      this.#attendance.isFollowed(threadId)
    )
      return;
    const unload = () => void this.unload(thread);
    this.#idle.set(threadId, this.#services.runtime.clock.setTimer(unload, IDLE_MS_MAX));
  }

  /** Stops the timer that unloads the thread. */
  keepLoaded(threadId: string): void {
    this.#idle.get(threadId)?.clear();
    this.#idle.delete(threadId);
  }

  /**
   * A client has loaded the thread itself: if it is an agent, it stays loaded as any thread does.
   */
  noteOpened({ id, record }: LoadedThread): void {
    if (this.#loaded.above(id).length === 0) return;
    this.#opened.add(id);
    this.#idleAgents.remove(record.sessionId, id);
  }

  /** A turn of an agent is about to begin. */
  noteBusy(sessionId: string, agentId: string): void {
    this.#idleAgents.remove(sessionId, agentId);
  }

  /** If no turn runs in an agent now: unloads those of its session that are idle and too many. */
  noteIfIdle(agentId: string): void {
    const thread = this.#loaded.find(agentId);
    if (
      thread === null ||
      thread.isRunning ||
      this.#loaded.above(agentId).length === 0 ||
      this.#opened.has(agentId)
    )
      return;
    for (const id of this.#idleAgents.add(thread.record.sessionId, agentId)) {
      const surplus = this.#loaded.find(id);
      if (surplus !== null)
        this.unload(surplus, { followed: true }).catch((error: unknown) =>
          this.#services.runtime.log.error(
            { err: error, threadId: id },
            'an idle agent could not be unloaded',
          ),
        );
    }
  }

  /**
   * Unloads a thread, unless a turn runs in it or below it or is being begun, or a client follows
   * it: then it is tried again later. `followed`: also if clients follow it. Shares the queue of
   * loading, so a resume at the same time finds the thread either loaded or unloaded.
   */
  unload(thread: LoadedThread, { followed = false } = {}): Promise<void> {
    const { id } = thread;
    return this.#loaded.loading.run(id, async () => {
      await this.#breaks.worked(CLOSE_UNITS);
      if (this.#loaded.find(id) !== thread) return;
      const isUsed =
        thread.isRunning ||
        // It needs the words of the threads above, and counts for their goals.
        this.#loaded.below(id).some((agentId) => this.#loaded.isRunning(agentId)) ||
        (!followed && this.#attendance.isFollowed(id));
      if (isUsed) {
        this.unloadWhenIdle(id);
        return;
      }
      await this.close(thread);
      this.#services.clients.publish('everyone', 'thread/closed', { threadId: id });
      this.#services.clients.unsubscribeAll(id);
    });
  }

  /**
   * Interrupts the thread's turn, makes a change after which the thread cannot be loaded, and
   * unloads it. Resolves with whether it was loaded. If the change fails, the thread stays loaded,
   * without its turn.
   */
  retire(threadId: string, change: () => Promise<unknown>): Promise<boolean> {
    return this.#loaded.loading.run(threadId, async () => {
      const thread = this.#loaded.find(threadId);
      if (thread === null) {
        await change();
        return false;
      }
      await thread.retire(change);
      await this.close(thread);
      return true;
    });
  }

  /** Unloads a thread at once. Call it in the queue of loading. */
  async close(thread: LoadedThread): Promise<void> {
    const { id, record } = thread;
    this.keepLoaded(id);
    this.#loaded.remove(thread);
    this.#opened.delete(id);
    this.#idleAgents.remove(record.sessionId, id);
    this.#counts.ends.forget(id);
    this.#counts.usage.forget(id);
    await thread.close();
  }

  /**
   * Resolves when all threads are closed, and clients were told how their turns ended. Null while
   * the server is not closing.
   */
  get closing(): Promise<void> | null {
    return this.#closing;
  }

  /** Interrupts every turn and closes every thread. */
  closeAll(cause: InterruptCause): Promise<void> {
    this.#closing ??= this.#services.limits.closingPrograms.endDuring(this.#closeAll(cause));
    return this.#closing;
  }

  async #closeAll(cause: InterruptCause): Promise<void> {
    for (const threadId of [...this.#idle.keys()]) this.keepLoaded(threadId);
    await this.#loaded.loading.idle();
    const close = async (thread: LoadedThread) => {
      await this.#breaks.worked(CLOSE_UNITS);
      await thread.close(cause);
    };
    // Again, because a turn may have started an agent until it was interrupted.
    for (let threads = this.#loaded.all(); threads.length > 0; threads = this.#loaded.all()) {
      await Promise.all(threads.map(close));
      for (const thread of threads) this.#loaded.remove(thread);
    }
  }
}
