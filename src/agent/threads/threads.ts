import { threadNotFound } from '../../protocol/errors/thread-errors.ts';
import type { Thread, Turn } from '../../protocol/generated/types.ts';
import type { LogEntry } from '../../store/log-entry.ts';
import type { ThreadRecord } from '../../store/thread-record.ts';
import type { ForkPoint } from '../../store/thread-store.ts';
import type { InterruptCause } from '../../tools/denial.ts';
import { revertingPatch } from '../history/reverting-patch.ts';
import { AgentEndSignal } from '../lineage/agent-end-signal.ts';
import { AgentsUsage } from '../lineage/agents-usage.ts';
import type { TurnNotifier } from '../notify/turn-notifier.ts';
import { serverLimits } from '../server-limits.ts';
import type { Services } from '../services.ts';
import type { StoredChange } from '../thread-state.ts';
import type { TurnPart } from '../turn/turn-part.ts';
import { revertedPatch, type TurnPartKind } from '../turn/turn-part-kind.ts';
import type { ImportSource } from './import-thread.ts';
import type { LoadedThread } from './loaded-thread.ts';
import { checkThreadId, LoadedThreads } from './loaded-threads.ts';
import type { NewThread, ThreadRequest } from './new-thread.ts';
import { type Reload, reloadConfiguration } from './reload-configuration.ts';
import { SubAgentThreads } from './sub-agent-threads.ts';
import { ThreadLoader } from './thread-loader.ts';
import { type Attendance, ThreadUnloader } from './thread-unloader.ts';

interface ThreadsOptions {
  attendance: Attendance;
  /** The parts that every thread's turns have, in the order in which they act. */
  kinds: readonly TurnPartKind[];
  /** Runs the user's program after turns. */
  notifier: Pick<TurnNotifier, 'turnEnded'>;
}

/** The threads of a server: what loads, unloads and changes them. */
export class Threads {
  readonly #services: Services;
  readonly #kinds: readonly TurnPartKind[];
  readonly #notifier: Pick<TurnNotifier, 'turnEnded'>;
  readonly #attendance: Attendance;
  #isDraining = false;
  readonly #loaded: LoadedThreads;
  readonly #loader: ThreadLoader;
  readonly #unloader: ThreadUnloader;
  /** The agents that threads have started. */
  readonly agents: SubAgentThreads;

  constructor(
    given: Omit<Services, 'limits' | 'agents'>,
    { attendance, kinds, notifier }: ThreadsOptions,
  ) {
    this.#attendance = attendance;
    this.#kinds = kinds;
    this.#notifier = notifier;
    const shared = { ...given, limits: serverLimits(given.runtime.clock) };
    const loaded = new LoadedThreads(given.clients);
    const usage = new AgentsUsage({ store: given.store, loaded });
    const counts = { ends: new AgentEndSignal(), usage };
    const unloader = new ThreadUnloader(loaded, shared, attendance, counts);
    const loader: Pick<ThreadLoader, 'startAgent' | 'using'> = {
      startAgent: (parent, agent) => this.#loader.startAgent(parent, agent),
      using: (agentId, owner, use) => this.#loader.using(agentId, owner, use),
    };
    this.agents = new SubAgentThreads(given, loaded, unloader, { loader, counts });
    const onTurnEnded = (threadId: string, turnId: string) => this.#afterTurn(threadId, turnId);
    this.#services = { ...shared, agents: this.agents };
    this.#loaded = loaded;
    this.#unloader = unloader;
    this.#loader = new ThreadLoader(this.#services, loaded, unloader, { kinds, onTurnEnded });
  }

  /** The ids of all loaded threads, oldest first. */
  ids(): string[] {
    return this.#loaded.ids();
  }

  find(threadId: string): LoadedThread | null {
    return this.#loaded.find(threadId);
  }

  /** Returns the loaded thread. Throws `thread_not_found` if it is not loaded. */
  require(threadId: string): LoadedThread {
    return this.#loaded.require(threadId);
  }

  /**
   * The record of a thread, loaded or not; `notFound` makes the error for one that does not exist.
   * The metadata is always read from the store, because other processes may change it without the
   * loaded thread learning of it.
   */
  async record(threadId: string, notFound = threadNotFound): Promise<ThreadRecord> {
    checkThreadId(threadId);
    const { store } = this.#services;
    const loaded = this.find(threadId);
    if (loaded === null) {
      const record = await store.getThread(threadId);
      if (record === null) throw notFound(threadId);
      return record;
    }
    const metadata = await store.getMetadata(threadId);
    if (metadata === null) throw notFound(threadId);
    return { ...loaded.record, ...metadata };
  }

  /** A thread, loaded or not, as clients see it: its record, its current status and these turns. */
  view(record: ThreadRecord, turns: Turn[] = []): Thread {
    return this.#loaded.view(record, turns);
  }

  /** Starts a thread that begins with this history. */
  start(request: NewThread, history: LogEntry[] = []): Promise<LoadedThread> {
    return this.#loader.create(request, history);
  }

  /**
   * Loads a stored thread, or returns the loaded one. If a turn runs in it, the request's overrides
   * are ignored.
   */
  resume(threadId: string, request: ThreadRequest): Promise<LoadedThread> {
    return this.#loader.resume(threadId, request);
  }

  /**
   * Stores a thread of another program, and returns its record. Takes one at a time, because they
   * may be large.
   */
  import(source: ImportSource): Promise<ThreadRecord> {
    const isClosing = () => this.closing !== null;
    const load = async () =>
      (await import('./import-thread.ts')).importThread(source, this.#services, isClosing);
    return this.#loaded.loading.run('import', load);
  }

  /** Starts a thread with the source's history up to this point. */
  fork(source: ThreadRecord, point: ForkPoint, request: NewThread): Promise<LoadedThread> {
    return this.#loader.fork(source, point, request);
  }

  /** The part of a loaded thread; null if the thread is not loaded. */
  part<Part extends TurnPart>(
    threadId: string,
    kind: abstract new (...args: never[]) => Part,
  ): Part | null {
    return this.find(threadId)?.part(kind) ?? null;
  }

  /**
   * Lets an idle thread begin a due turn, if a follower can still send messages or the server needs
   * none; one with input that has waited, if any client can.
   */
  beginDueTurn(threadId: string): void {
    if (this.#isDraining) return;
    const { isReachable } = this.#attendance;
    this.find(threadId)?.turns.beginDue({
      isAttended: this.#attendance.isAttended(threadId),
      isReachable,
    });
  }

  /**
   * Changes a thread, unless it is loaded: resolves with null then. Nobody else loads or changes it
   * meanwhile. Rejects with `active_writer` if another process has it loaded.
   */
  changeStored<Result>(
    threadId: string,
    change: (record: ThreadRecord) => StoredChange<Result>,
  ): Promise<Result | null> {
    return this.#loaded.loading.run(threadId, async () => {
      if (this.find(threadId) !== null) return null;
      const writer = await this.#services.store.openWriter(threadId);
      try {
        const { changes, result } = change(await this.record(threadId));
        if (changes !== null) await writer.append([], changes);
        return result;
      } finally {
        await writer.close();
      }
    });
  }

  /** Starts the timer that unloads a thread without followers or a running turn. */
  unloadWhenIdle(threadId: string): void {
    this.#unloader.unloadWhenIdle(threadId);
  }

  /** Stops the timer that unloads the thread. */
  keepLoaded(threadId: string): void {
    this.#unloader.keepLoaded(threadId);
  }

  /** Unloads a thread, unless it is used: then it is tried again later. */
  unload(thread: LoadedThread): Promise<void> {
    return this.#unloader.unload(thread);
  }

  /**
   * Interrupts the thread's turn, makes a change after which the thread cannot be loaded, and
   * unloads it. Resolves with whether it was loaded. If the change fails, the thread stays loaded,
   * without its turn.
   */
  retire(threadId: string, change: () => Promise<unknown>): Promise<boolean> {
    return this.#unloader.retire(threadId, change);
  }

  /**
   * Removes this turn and all later ones from a thread, loaded or not. A running turn is
   * interrupted first.
   */
  revert(threadId: string, beforeTurnId: string): Promise<ThreadRecord> {
    return this.#loaded.loading.run(threadId, async () => {
      const { store, runtime } = this.#services;
      const prepare = async () => revertingPatch(store, await this.record(threadId), beforeTurnId);
      const thread = this.find(threadId);
      if (thread === null) {
        const patch = {
          ...(await prepare()),
          ...revertedPatch(this.#kinds, await this.record(threadId)),
        };
        await store.revertThread(threadId, beforeTurnId, {
          ...patch,
          updatedAtMs: runtime.clock.now(),
        });
      } else await thread.revert(beforeTurnId, prepare);
      await this.agents.usage.countAbove(threadId);
      // The model that they worked for does not know them any more.
      await this.agents.closeOrphans(threadId);
      return this.record(threadId);
    });
  }

  /**
   * Reads the configuration of all loaded threads again, as `reloadConfiguration` does. Due turns
   * begin after that.
   */
  reloadConfiguration(reload: Reload): Promise<void> {
    return reloadConfiguration(this.#loaded.all(), this.#services, {
      reload,
      onDone: ({ id }) => this.beginDueTurn(id),
    });
  }

  /** How many turns run or are being begun. */
  get turnsRunning(): number {
    return this.#loaded.running().length;
  }

  /**
   * Resolves when the turns that run now, or are being begun, have ended, and those of their
   * agents.
   */
  turnsEnded(): Promise<void> {
    return this.#loaded.turnsEnded();
  }

  /**
   * Resolves when all threads are closed, and clients were told how their turns ended. Null while
   * the server is not closing.
   */
  get closing(): Promise<void> | null {
    return this.#unloader.closing;
  }

  /** From now on, no turn begins by itself. Resolves when those that run have ended. */
  drain(): Promise<void> {
    this.#isDraining = true;
    return this.turnsEnded();
  }

  /** Interrupts every turn and closes every thread. */
  close(cause: InterruptCause): Promise<void> {
    return this.#unloader.closeAll(cause);
  }

  #afterTurn(threadId: string, turnId: string): void {
    this.#notifier.turnEnded(this.find(threadId), turnId);
    this.agents.turnEnded(threadId);
    this.unloadWhenIdle(threadId);
    this.beginDueTurn(threadId);
  }
}
