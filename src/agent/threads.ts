import type { Timer } from '../base/clock.ts';
import { EventLoopYield } from '../base/event-loop-yield.ts';
import { isUuid } from '../base/ids.ts';
import { KeyedQueue } from '../base/keyed-queue.ts';
import type { Thread, Turn } from '../protocol/generated/types.ts';
import { invalidThreadId, noRolloutFound, threadArchived, threadNotFound } from '../protocol/rpc-error.ts';
import { spawnSource } from '../store/spawn-source.ts';
import type { AgentRecord, ForkPoint, LogEntry, ThreadPatch, ThreadRecord } from '../store/thread-store.ts';
import type { InterruptCause } from '../tools/denial.ts';
import type { AgentDeps } from './agent-deps.ts';
import { costAt } from './cost-at.ts';
import { historyFacts } from './history-facts.ts';
import { LoadedThread } from './loaded-thread.ts';
import { LoadedTree } from './loaded-tree.ts';
import { newAgentThread } from './new-agent-thread.ts';
import { configureThread, type NewThread, newThread, type ThreadRequest } from './new-thread.ts';
import { PromptBudget } from './prompt/prompt-budget.ts';
import { keptSettings } from './settings/resolve-settings.ts';
import { AgentRefused, type NewAgent } from './sub-agents/agent-tree.ts';
import { threadView } from './thread-view.ts';
import { revertedPatch, type TurnPart } from './turn/turn-part.ts';

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
  /** By thread id. Two requests may name one thread by its id and by its path, and must not load it twice. */
  readonly #loading = new KeyedQueue();
  /** Many threads may be closed at once, by the end of the server or by timers that were set together. */
  readonly #breaks = new EventLoopYield();
  readonly #tree: LoadedTree;
  #closing: Promise<void> | null = null;

  constructor(deps: Omit<AgentDeps, 'onTurnEnded' | 'promptBudget' | 'agents'>, attendance: Attendance) {
    this.#attendance = attendance;
    const { store, clients, clock } = deps;
    this.#tree = new LoadedTree({
      store,
      clients,
      clock,
      threads: {
        loaded: () => this.#loaded.values(),
        find: (threadId) => this.find(threadId),
        startAgent: (parent, agent) => this.#startAgent(parent, agent),
        resume: (threadId, request) => this.resume(threadId, request),
        retire: (threadId, change) => this.retire(threadId, change),
        announce: (thread) => clients.publish({ threadId: thread.id }, 'thread/started', { thread: this.view(thread.record) }),
        unloadWhenIdle: (threadId) => this.unloadWhenIdle(threadId),
      },
    });
    const onTurnEnded = (threadId: string) => this.#afterTurn(threadId);
    this.#deps = { ...deps, promptBudget: new PromptBudget(), agents: this.#tree, onTurnEnded };
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
   * The record of a thread, loaded or not; `notFound` makes the error for one that does not exist. The metadata is always read from
   * the store, because other processes may change it without the loaded thread learning of it.
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
    const { record, configuration } = await newThread(this.#deps, request, {});
    const begun = { ...record, ...historyFacts(history) };
    const writer = await this.#deps.store.createThread(begun, history);
    return this.#load(new LoadedThread({ record: begun, writer, configuration, agent: this.#deps }));
  }

  /** Loads a stored thread, or returns the loaded one. If a turn runs in it, the request's overrides are ignored. */
  resume(threadId: string, request: ThreadRequest): Promise<LoadedThread> {
    checkThreadId(threadId);
    return this.#loading.run(threadId, async () => {
      const loaded = this.find(threadId);
      if (loaded !== null) return this.#rejoin(loaded, request);
      const record = await this.#deps.store.getThread(threadId);
      if (record === null) throw noRolloutFound(threadId);
      if (record.archivedAtMs !== null) throw threadArchived(threadId);
      const { settings, configuration } = await configureThread(this.#deps, request, keptSettings(record.settings, request));
      const writer = await this.#deps.store.openWriter(threadId);
      const thread = new LoadedThread({ record, writer, configuration, agent: this.#deps });
      try {
        await thread.update({ settings });
      } catch (error) {
        // Not registered yet, so nothing else would close it.
        await thread.close();
        throw error;
      }
      return this.#load(thread);
    });
  }

  /** Stores the thread of a rollout file, and returns its record. Reads one file at a time, because files may be large. */
  import(path: string): Promise<ThreadRecord> {
    return this.#loading.run('import', async () => {
      const { importRollout } = await import('./import-rollout.ts');
      return importRollout(path, this.#deps);
    });
  }

  /** Starts a thread with the source's history up to this point. */
  async fork(source: ThreadRecord, point: ForkPoint, request: NewThread): Promise<LoadedThread> {
    const { record, configuration } = await newThread(this.#deps, request, keptSettings(source.settings, request));
    const forked: ThreadRecord = {
      ...record,
      forkedFromId: source.id,
      name: source.name,
      ...((await this.#isBeforeAll(source.id, point)) ? {} : { preview: source.preview, listed: source.listed }),
      tokenUsage: point === null ? source.tokenUsage : await costAt(this.#deps.store, source.id, point),
      // For a history that is cut, the context that the model was last told is unknown.
      told: point === null ? source.told : null,
      memoryMode: source.memoryMode,
    };
    const writer = await this.#deps.store.forkThread(source.id, point, forked);
    return this.#load(new LoadedThread({ record: forked, writer, configuration, agent: this.#deps }));
  }

  /** Whether this point is before the first turn, so that a history that is cut there has no turns. */
  async #isBeforeAll(threadId: string, point: ForkPoint): Promise<boolean> {
    if (point === null || 'afterTurnId' in point) return false;
    const { data } = await this.#deps.store.listTurns(threadId, { direction: 'asc', limit: 1, view: 'notLoaded' });
    return data[0]?.id === point.beforeTurnId;
  }

  /** Rejects with `turn_not_found` if the thread has no such turn. */
  async #checkTurn(threadId: string, turnId: string): Promise<void> {
    await this.#deps.store.listItems(threadId, { turnId, direction: 'asc', limit: 1 });
  }

  /** The ids of the loaded agents below a thread. */
  agentsBelow(threadId: string): string[] {
    return this.#tree.loadedBelow(threadId);
  }

  /** The part of a loaded thread; null if the thread is not loaded. */
  part<Part extends TurnPart>(threadId: string, kind: abstract new (...args: never[]) => Part): Part | null {
    return this.find(threadId)?.part(kind) ?? null;
  }

  /** Lets an idle thread begin a due turn, if a follower can still send messages. */
  beginDueTurn(threadId: string): void {
    if (this.#attendance.isAttended(threadId)) this.find(threadId)?.beginDueTurn();
  }

  /**
   * Changes a thread that is not loaded. Rejects with `active_writer` if another process has the thread loaded, since that process
   * would overwrite the change.
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
    if (this.#closing !== null || thread === null || thread.turn !== null || this.#attendance.isFollowed(threadId)) return;
    this.#idle.set(
      threadId,
      this.#deps.clock.setTimer(() => void this.unload(thread), IDLE_MS_MAX),
    );
  }

  /**
   * Unloads a thread, unless a turn runs in it or is being begun, or a client follows it: then it is tried again later. Shares the
   * queue of loading, so a resume at the same time finds the thread either loaded or unloaded.
   */
  unload(thread: LoadedThread): Promise<void> {
    return this.#loading.run(thread.id, async () => {
      await this.#breaks.worked(CLOSE_UNITS);
      if (thread.isRunning || this.#attendance.isFollowed(thread.id)) {
        this.unloadWhenIdle(thread.id);
        return;
      }
      this.#unregister(thread.id);
      await thread.close();
      this.#deps.clients.publish('everyone', 'thread/closed', { threadId: thread.id });
    });
  }

  /**
   * Interrupts the thread's turn, makes a change after which the thread cannot be loaded, and unloads it. Resolves with whether it was
   * loaded. If the change fails, the thread stays loaded, without its turn.
   */
  retire(threadId: string, change: () => Promise<unknown>): Promise<boolean> {
    return this.#loading.run(threadId, async () => {
      const thread = this.find(threadId);
      if (thread === null) {
        await change();
        return false;
      }
      await thread.retire(change);
      this.#unregister(threadId);
      await thread.close();
      return true;
    });
  }

  /**
   * Retires a thread and those of the agents below it that `takes` accepts, the deepest first. The thread comes last, so a failure leaves no
   * agent without the thread that started it. Resolves with the threads, in the order in which they were retired.
   */
  async retireTree(
    threadId: string,
    change: (threadId: string) => Promise<unknown>,
    takes: (agent: AgentRecord) => boolean,
  ): Promise<{ threadId: string; wasLoaded: boolean }[]> {
    // Before the agents are read, so that its turn starts no more of them.
    await this.find(threadId)?.interruptAndWait('close');
    const below = (await this.#deps.store.listAgents(threadId)).filter(takes).map(({ id }) => id);
    const retired = [];
    for (const id of [...below.reverse(), threadId]) {
      retired.push({ threadId: id, wasLoaded: await this.retire(id, () => change(id)) });
      this.#tree.ended(id);
    }
    return retired;
  }

  /** Removes this turn and all later ones from a thread, loaded or not. A running turn is interrupted first. */
  revert(threadId: string, beforeTurnId: string): Promise<ThreadRecord> {
    return this.#loading.run(threadId, async () => {
      const { store, clock } = this.#deps;
      // Checked first, so that a request with an unknown turn does not interrupt the running one.
      await this.#checkTurn(threadId, beforeTurnId);
      const asNew: ThreadPatch = (await this.#isBeforeAll(threadId, { beforeTurnId })) ? { preview: '' } : {};
      const patch: ThreadPatch = { ...asNew, told: null, tokenUsage: await costAt(store, threadId, { beforeTurnId }) };
      const thread = this.find(threadId);
      if (thread === null) {
        const reverted = revertedPatch(this.#deps.partKinds, await this.record(threadId));
        return store.revertThread(threadId, beforeTurnId, { ...patch, updatedAtMs: clock.now(), ...reverted });
      }
      await thread.revert(beforeTurnId, patch);
      return this.record(threadId);
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

  /** Resolves when the turns that run now, or are being begun, have ended. */
  async turnsEnded(): Promise<void> {
    await Promise.all([...this.#loaded.values()].map((thread) => thread.turnEnded()));
  }

  /** Resolves when all threads are closed, and clients were told how their turns ended. Null while the server is not closing. */
  get closing(): Promise<void> | null {
    return this.#closing;
  }

  /** Interrupts every turn and closes every thread. */
  close(cause: InterruptCause): Promise<void> {
    this.#closing ??= this.#close(cause);
    return this.#closing;
  }

  async #close(cause: InterruptCause): Promise<void> {
    for (const threadId of [...this.#idle.keys()]) this.keepLoaded(threadId);
    await this.#loading.idle();
    const close = async (thread: LoadedThread) => {
      await this.#breaks.worked(CLOSE_UNITS);
      await thread.close(cause);
    };
    await Promise.all([...this.#loaded.values()].map(close));
    this.#loaded.clear();
  }

  #afterTurn(threadId: string): void {
    this.#tree.ended(threadId);
    this.unloadWhenIdle(threadId);
    this.beginDueTurn(threadId);
  }

  #load(thread: LoadedThread): LoadedThread {
    this.#loaded.set(thread.id, thread);
    const parentId = spawnSource(thread.record.source)?.parent_thread_id;
    if (parentId !== undefined) this.#deps.clients.adopt(thread.id, parentId);
    return thread;
  }

  #unregister(threadId: string): void {
    this.keepLoaded(threadId);
    this.#loaded.delete(threadId);
    this.#deps.clients.disown(threadId);
    this.#tree.forget(threadId);
  }

  /** Starts the thread of an agent. */
  async #startAgent(parent: LoadedThread, agent: NewAgent): Promise<LoadedThread> {
    if (this.#closing !== null) throw new AgentRefused('The server is being shut down, so it cannot start agents.');
    const { record, configuration } = await newAgentThread(this.#deps, parent, agent);
    const { store } = this.#deps;
    const writer = agent.forksHistory ? await store.forkThread(parent.id, null, record) : await store.createThread(record);
    return this.#load(new LoadedThread({ record, writer, configuration, agent: this.#deps }));
  }

  async #rejoin(thread: LoadedThread, request: ThreadRequest): Promise<LoadedThread> {
    this.keepLoaded(thread.id);
    if (thread.turn === null && changesSettings(request)) await thread.reconfigure((last) => configureThread(this.#deps, request, last));
    return thread;
  }
}

function checkThreadId(threadId: string): void {
  if (!isUuid(threadId)) throw invalidThreadId(threadId);
}

function changesSettings({ overrides, config }: ThreadRequest): boolean {
  return config !== null || Object.values(overrides).some((value) => value !== null && value !== undefined);
}
