import type { Timer } from '../base/clock.ts';
import { EventLoopYield } from '../base/event-loop-yield.ts';
import { isUuid } from '../base/ids.ts';
import { KeyedQueue } from '../base/keyed-queue.ts';
import type { Thread, Turn } from '../protocol/generated/types.ts';
import { invalidThreadId, threadNotFound } from '../protocol/thread-errors.ts';
import type { LogEntry } from '../store/log-entry.ts';
import type { ThreadPatch, ThreadRecord } from '../store/thread-record.ts';
import type { ForkPoint } from '../store/thread-store.ts';
import type { InterruptCause } from '../tools/denial.ts';
import type { AgentDeps } from './agent-deps.ts';
import type { ImportSource } from './history/import-thread.ts';
import { revertingPatch } from './history/reverting-patch.ts';
import type { LoadedThread } from './loaded-thread.ts';
import { LoadedTree } from './loaded-tree.ts';
import { changesSettings, type NewThread, type ThreadRequest } from './new-thread.ts';
import { type Reload, reloadConfiguration } from './reload-configuration.ts';
import { type SharedLimits, sharedLimits } from './shared-limits.ts';
import { AgentRefused, type NewAgent } from './sub-agents/agent-tree.ts';
import { ThreadLoader } from './thread-loader.ts';
import { threadView } from './thread-view.ts';
import type { TurnPart } from './turn/turn-part.ts';
import { revertedPatch } from './turn/turn-part-deps.ts';
import { turnsEnded } from './turns-ended.ts';

/** How long a loaded thread without followers stays in memory after its last turn. */
const IDLE_MS_MAX = 30 * 60 * 1000;
/** The work of closing a thread, in the units of `EventLoopYield`. */
const CLOSE_UNITS = 1_000;

/** Knows which threads have clients. */
interface Attendance {
  /** Whether a client follows the thread. */
  isFollowed(threadId: string): boolean;
  /** Whether a follower can still send messages. Only then may the thread begin turns by itself. */
  isAttended(threadId: string): boolean;
}

/** The loaded threads, and the ways to load one. */
export class Threads {
  readonly #deps: AgentDeps;
  readonly #attendance: Attendance;
  readonly #loaded = new Map<string, LoadedThread>();
  readonly #idle = new Map<string, Timer>();
  /**
   * By thread id. Two requests may name one thread by its id and by its path, and must not load it
   * twice.
   */
  readonly #loading = new KeyedQueue();
  readonly #loader: ThreadLoader;
  /**
   * Many threads may be closed at once, by the end of the server or by timers that were set
   * together.
   */
  readonly #breaks = new EventLoopYield();
  /** The agents that threads have started. */
  readonly agents: LoadedTree;
  #closing: Promise<void> | null = null;

  constructor(
    deps: Omit<AgentDeps, keyof SharedLimits | 'onTurnEnded' | 'agents'>,
    attendance: Attendance,
  ) {
    this.#attendance = attendance;
    const { store, clients, clock, log } = deps;
    this.agents = new LoadedTree({
      store,
      clients,
      clock,
      log,
      threads: {
        loaded: () => this.#loaded.values(),
        find: (threadId) => this.find(threadId),
        startAgent: (parent, agent) => this.#startAgent(parent, agent),
        using: (agentId, owner, use) => this.#using(agentId, owner, use),
        retire: (threadId, change) => this.retire(threadId, change),
        loadingNone: (threadIds, work) => this.#loading.runAll(threadIds, work),
        announce: (thread) =>
          clients.publish({ threadId: thread.id }, 'thread/started', {
            thread: this.view(thread.record),
          }),
        unloadAgent: (thread) => this.unload(thread, { followed: true }),
      },
    });
    const onTurnEnded = (threadId: string, turnId: string) => this.#afterTurn(threadId, turnId);
    this.#deps = { ...deps, ...sharedLimits(deps.clock), agents: this.agents, onTurnEnded };
    this.#loader = new ThreadLoader(this.#deps, this.agents);
  }

  /** The ids of all loaded threads, oldest first. */
  ids(): string[] {
    return [...this.#loaded.keys()].sort();
  }

  find(threadId: string): LoadedThread | null {
    return this.#loaded.get(threadId) ?? null;
  }

  /** Returns the loaded thread. Throws `thread_not_found` if it is not loaded. */
  require(threadId: string): LoadedThread {
    checkThreadId(threadId);
    const thread = this.#loaded.get(threadId);
    if (thread === undefined) throw threadNotFound(threadId);
    return thread;
  }

  /**
   * The record of a thread, loaded or not; `notFound` makes the error for one that does not exist.
   * The metadata is always read from the store, because other processes may change it without the
   * loaded thread learning of it.
   */
  async record(threadId: string, notFound = threadNotFound): Promise<ThreadRecord> {
    checkThreadId(threadId);
    const { store } = this.#deps;
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
    return threadView(record, this.find(record.id)?.status ?? { type: 'notLoaded' }, turns);
  }

  /** Starts a thread that begins with this history. */
  async start(request: NewThread, history: LogEntry[] = []): Promise<LoadedThread> {
    return this.#load(await this.#loader.create(request, history));
  }

  /**
   * Loads a stored thread, or returns the loaded one. If a turn runs in it, the request's overrides
   * are ignored.
   */
  resume(threadId: string, request: ThreadRequest): Promise<LoadedThread> {
    checkThreadId(threadId);
    return this.#loading.run(threadId, async () => {
      const loaded = this.find(threadId);
      if (loaded !== null) return this.#rejoin(loaded, request);
      const thread = await this.#loadStored(threadId, request);
      this.agents.noteOpened(thread);
      return thread;
    });
  }

  async #loadStored(threadId: string, request: ThreadRequest): Promise<LoadedThread> {
    const { thread, above } = await this.#loader.open(threadId, request);
    this.#load(thread, above);
    try {
      await this.agents.tidy(threadId);
      return thread;
    } catch (error) {
      // Nobody follows it yet, so nothing else would unload it.
      this.#unregister(thread);
      await thread.close();
      throw error;
    }
  }

  /**
   * Loads an agent, unless it is loaded, with the settings of the request that loaded its owner,
   * and uses it. Shares the queue of loading, so the agent is not unloaded meanwhile.
   */
  #using<T>(
    agentId: string,
    owner: LoadedThread | null,
    use: (thread: LoadedThread, wasLoaded: boolean) => Promise<T>,
  ): Promise<T> {
    return this.#loading.run(agentId, async () => {
      if (this.#closing !== null)
        throw new AgentRefused('The server is being shut down, so agents cannot be reached.');
      const loaded = this.find(agentId);
      this.keepLoaded(agentId);
      const inherited = owner?.configuration.requested ?? null;
      try {
        const thread =
          loaded ??
          (await this.#loadStored(agentId, {
            overrides: {},
            config: null,
            inherited,
            knowsModes: true,
          }));
        return await use(thread, loaded !== null);
      } finally {
        this.unloadWhenIdle(agentId);
      }
    });
  }

  /**
   * Stores a thread of another program, and returns its record. Takes one at a time, because they
   * may be large.
   */
  import(source: ImportSource): Promise<ThreadRecord> {
    const load = async () =>
      (await import('./history/import-thread.ts')).importThread(
        source,
        this.#deps,
        () => this.#closing !== null,
      );
    return this.#loading.run('import', load);
  }

  /** Starts a thread with the source's history up to this point. */
  async fork(source: ThreadRecord, point: ForkPoint, request: NewThread): Promise<LoadedThread> {
    return this.#load(await this.#loader.fork(source, point, request));
  }

  /** The part of a loaded thread; null if the thread is not loaded. */
  part<Part extends TurnPart>(
    threadId: string,
    kind: abstract new (...args: never[]) => Part,
  ): Part | null {
    return this.find(threadId)?.part(kind) ?? null;
  }

  /** Lets an idle thread begin a due turn, if a follower can still send messages. */
  beginDueTurn(threadId: string): void {
    if (this.#attendance.isAttended(threadId)) this.find(threadId)?.beginDueTurn();
  }

  /**
   * Changes a thread that is not loaded. Rejects with `active_writer` if another process has it
   * loaded and would overwrite the change.
   */
  async patchStored(threadId: string, patch: ThreadPatch): Promise<void> {
    const writer = await this.#deps.store.openWriter(threadId);
    try {
      await writer.append([], { patch });
    } finally {
      await writer.close();
    }
  }

  /** Starts the timer that unloads a thread without followers or a running turn. */
  unloadWhenIdle(threadId: string): void {
    this.keepLoaded(threadId);
    const thread = this.find(threadId);
    if (
      this.#closing !== null ||
      thread === null ||
      thread.turn !== null ||
      this.#attendance.isFollowed(threadId)
    )
      return;
    this.#idle.set(
      threadId,
      this.#deps.clock.setTimer(() => void this.unload(thread), IDLE_MS_MAX),
    );
  }

  /**
   * Unloads a thread, unless a turn runs in it or is being begun, or a client follows it: then it
   * is tried again later. `followed`: also if clients follow it. Shares the queue of loading, so a
   * resume at the same time finds the thread either loaded or unloaded.
   */
  unload(thread: LoadedThread, { followed = false } = {}): Promise<void> {
    return this.#loading.run(thread.id, async () => {
      await this.#breaks.worked(CLOSE_UNITS);
      if (this.find(thread.id) !== thread) return;
      const isUsed =
        thread.isRunning ||
        this.agents.runsBelow(thread.id) ||
        (!followed && this.#attendance.isFollowed(thread.id));
      if (isUsed) {
        this.unloadWhenIdle(thread.id);
        return;
      }
      this.#unregister(thread);
      await thread.close();
      this.#deps.clients.publish('everyone', 'thread/closed', { threadId: thread.id });
      this.#deps.clients.unsubscribeAll(thread.id);
    });
  }

  /**
   * Interrupts the thread's turn, makes a change after which the thread cannot be loaded, and
   * unloads it. Resolves with whether it was loaded. If the change fails, the thread stays loaded,
   * without its turn.
   */
  retire(threadId: string, change: () => Promise<unknown>): Promise<boolean> {
    return this.#loading.run(threadId, async () => {
      const thread = this.find(threadId);
      if (thread === null) {
        await change();
        return false;
      }
      await thread.retire(change);
      this.#unregister(thread);
      await thread.close();
      return true;
    });
  }

  /**
   * Removes this turn and all later ones from a thread, loaded or not. A running turn is
   * interrupted first.
   */
  revert(threadId: string, beforeTurnId: string): Promise<ThreadRecord> {
    return this.#loading.run(threadId, async () => {
      const { store, clock } = this.#deps;
      const prepare = async () => revertingPatch(store, await this.record(threadId), beforeTurnId);
      const thread = this.find(threadId);
      if (thread === null) {
        const patch = {
          ...(await prepare()),
          ...revertedPatch(this.#deps.partKinds, await this.record(threadId)),
        };
        await store.revertThread(threadId, beforeTurnId, { ...patch, updatedAtMs: clock.now() });
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
    return reloadConfiguration([...this.#loaded.values()], this.#deps, {
      reload,
      onDone: ({ id }) => this.beginDueTurn(id),
    });
  }

  /** Stops the timer that unloads the thread. */
  keepLoaded(threadId: string): void {
    this.#idle.get(threadId)?.clear();
    this.#idle.delete(threadId);
  }

  /** How many turns run or are being begun. */
  get turnsRunning(): number {
    return [...this.#loaded.values()].filter(({ isRunning }) => isRunning).length;
  }

  /**
   * Resolves when the turns that run now, or are being begun, have ended, and those of their
   * agents.
   */
  turnsEnded(): Promise<void> {
    return turnsEnded(() => this.#loaded.values());
  }

  /**
   * Resolves when all threads are closed, and clients were told how their turns ended. Null while
   * the server is not closing.
   */
  get closing(): Promise<void> | null {
    return this.#closing;
  }

  /** Interrupts every turn and closes every thread. */
  close(cause: InterruptCause): Promise<void> {
    this.#closing ??= this.#deps.lastPrograms.endDuring(this.#close(cause));
    return this.#closing;
  }

  async #close(cause: InterruptCause): Promise<void> {
    for (const threadId of [...this.#idle.keys()]) this.keepLoaded(threadId);
    await this.#loading.idle();
    const close = async (thread: LoadedThread) => {
      await this.#breaks.worked(CLOSE_UNITS);
      await thread.close(cause);
    };
    // Again, because a turn may have started an agent until it was interrupted.
    while (this.#loaded.size > 0) {
      const threads = [...this.#loaded.values()];
      await Promise.all(threads.map(close));
      for (const { id } of threads) this.#loaded.delete(id);
    }
  }

  #afterTurn(threadId: string, turnId: string): void {
    this.#deps.notifier.turnEnded(this.find(threadId), turnId);
    this.agents.turnEnded(threadId);
    this.unloadWhenIdle(threadId);
    this.beginDueTurn(threadId);
  }

  #load(thread: LoadedThread, above: readonly string[] = []): LoadedThread {
    this.#loaded.set(thread.id, thread);
    this.agents.noteLoaded(thread, above);
    return thread;
  }

  #unregister(thread: LoadedThread): void {
    this.keepLoaded(thread.id);
    this.#loaded.delete(thread.id);
    this.agents.noteUnloaded(thread);
  }

  /** Starts the thread of an agent. */
  async #startAgent(
    parent: LoadedThread,
    agent: NewAgent & { nickname: string },
  ): Promise<LoadedThread> {
    // Its configuration is read at once, and a response may start many.
    await this.#breaks.yielded();
    if (this.#closing !== null)
      throw new AgentRefused('The server is being shut down, so it cannot start agents.');
    const { thread, above } = await this.#loader.startAgent(parent, agent);
    return this.#load(thread, above);
  }

  async #rejoin(thread: LoadedThread, request: ThreadRequest): Promise<LoadedThread> {
    this.keepLoaded(thread.id);
    this.agents.noteOpened(thread);
    if (!changesSettings(request))
      await reloadConfiguration([thread], this.#deps, { reload: 'provider' });
    else
      await thread.settingsChanges.reconfigure(() => this.#loader.configureLoaded(thread, request));
    return thread;
  }
}

function checkThreadId(threadId: string): void {
  if (!isUuid(threadId)) throw invalidThreadId(threadId);
}
