import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { UserInput } from '../../protocol/generated/types.ts';
import type { AuthoredItem } from '../../store/model-items.ts';
import type { AgentRecord, ThreadRecord } from '../../store/thread-record.ts';
import type { ThreadStore } from '../../store/thread-store.ts';
import type { InterruptCause } from '../../tools/denial.ts';
import type { ClientChannel } from '../client-channel.ts';
import { GoalKeeper } from '../goal/goal-keeper.ts';
import { Denials } from '../guardian/denials.ts';
import { Guardian } from '../guardian/guardian.ts';
import { saidAsGoal, saidIn } from '../guardian/said-in.ts';
import { inTurn } from '../settings/confined-settings.ts';
import { Admission } from '../sub-agents/admission.ts';
import { AgentEnds } from '../sub-agents/agent-ends.ts';
import { type AgentState, agentState } from '../sub-agents/agent-state.ts';
import {
  type AgentLimits,
  AgentRefused,
  type AgentTree,
  type NewAgent,
  type StartedAgent,
} from '../sub-agents/agent-tree.ts';
import { AgentsUsage } from '../sub-agents/agents-usage.ts';
import { IdleAgents } from '../sub-agents/idle-agents.ts';
import { isAgentOf, isOpen, parentOf } from '../sub-agents/parent-of.ts';
import { type Retired, type RetireOptions, retireTree } from '../sub-agents/retire-tree.ts';
import { SubAgents } from '../sub-agents/sub-agents.ts';
import { sweepAgents } from '../sub-agents/sweep-agents.ts';
import { TreeInterrupts } from '../sub-agents/tree-interrupts.ts';
import type { LoadedThread } from './loaded-thread.ts';

interface LoadedTreeDeps {
  store: ThreadStore;
  clients: ClientChannel;
  clock: Clock;
  log: Log;
  threads: {
    loaded(): Iterable<LoadedThread>;
    find(threadId: string): LoadedThread | null;
    /** Stores and loads the thread of a new agent. */
    startAgent(parent: LoadedThread, agent: NewAgent & { nickname: string }): Promise<LoadedThread>;
    /**
     * Loads an agent, unless it is loaded, and uses it. It is not unloaded meanwhile. `owner`: the
     * thread that it works for.
     */
    using<T>(
      agentId: string,
      owner: LoadedThread | null,
      use: (thread: LoadedThread, wasLoaded: boolean) => Promise<T>,
    ): Promise<T>;
    retire(threadId: string, change: () => Promise<unknown>): Promise<boolean>;
    /** Does some work while none of the threads is being loaded or unloaded. */
    loadingNone<T>(threadIds: readonly string[], work: () => Promise<T>): Promise<T>;
    /** Tells the followers of a thread that it exists. */
    announce(thread: LoadedThread): void;
    /** Unloads an agent that no turn runs in, though clients follow it. */
    unloadAgent(thread: LoadedThread): Promise<void>;
  };
}

/**
 * How many agents of a session stay loaded without a turn. The others are loaded again when they
 * are sent input.
 */
const IDLE_AGENTS_MAX = 16;
/** More levels than any limit allows, for damaged data. */
const LEVELS_MAX = 1_000;

/** The agents of all threads: the loaded ones run here, the others are read from the store. */
export class LoadedTree implements AgentTree {
  readonly #deps: LoadedTreeDeps;
  /** By loaded agent: the threads above it, the nearest first, loaded or not. */
  readonly #above = new Map<string, readonly string[]>();
  /** The loaded agents that a client has opened itself. */
  readonly #opened = new Set<string>();
  readonly #admission: Admission;
  readonly #idle = new IdleAgents(IDLE_AGENTS_MAX);
  readonly #ends = new AgentEnds();
  readonly usage: AgentsUsage;
  readonly denials = new Denials();
  readonly interrupts: TreeInterrupts;

  constructor(deps: LoadedTreeDeps) {
    this.#deps = deps;
    const { store, threads } = deps;
    const running = (sessionId: string) =>
      [...threads.loaded()]
        .filter(({ record, isRunning }) => isRunning && isAgentOf(record, sessionId))
        .map(({ id }) => id);
    this.#admission = new Admission({ store, running });
    const { find } = threads;
    this.interrupts = new TreeInterrupts({
      find,
      below: (id) => this.loadedBelow(id),
      ownerOf: (id) => this.#ownerOf(id),
    });
    this.usage = new AgentsUsage({
      store,
      loaded: (threadId) => threads.find(threadId)?.record ?? null,
      loadedBelow: (threadId) => this.loadedBelow(threadId),
      above: (threadId) => this.#above.get(threadId) ?? [],
      tell: (threadId, used) => {
        threads.find(threadId)?.part(GoalKeeper).agentsUsed(used);
        threads.find(threadId)?.part(SubAgents).agentsUsed();
      },
    });
  }

  async start(
    parentId: string,
    agent: NewAgent,
    input: UserInput[],
    signal: AbortSignal,
  ): Promise<StartedAgent> {
    const parent = this.#deps.threads.find(parentId);
    if (parent === null)
      throw new AgentRefused('The thread is being closed, so it cannot start agents.');
    const { sessionId } = parent.record;
    const place = this.#admission.reserve(sessionId, null, agent.limits);
    try {
      const nickname = await this.#admission.admit(sessionId, agent, place);
      if (signal.aborted) throw new AgentRefused(NOT_BEGUN);
      const thread = await this.#deps.threads.startAgent(parent, { ...agent, nickname });
      place.agentId = thread.id;
      await this.#begin(parent, thread, { input, signal });
      return {
        id: thread.id,
        nickname,
        model: thread.settings.model,
        effort: thread.settings.effort,
      };
    } finally {
      this.#admission.release(sessionId, place);
    }
  }

  async send(
    ownerId: string,
    agentId: string,
    { input, interrupt, limits }: { input: UserInput[]; interrupt: boolean; limits: AgentLimits },
  ): Promise<string> {
    const { sessionId, agentClosedAtMs } = await this.#agent(ownerId, agentId);
    if (agentClosedAtMs !== null)
      throw new AgentRefused(
        `The agent ${agentId} is closed: open it again with resume_agent first.`,
      );
    const { threads, clients } = this.#deps;
    const owner = threads.find(ownerId);
    try {
      return await threads.using(agentId, owner, async (thread, wasLoaded) => {
        this.#idle.remove(sessionId, agentId);
        if (!wasLoaded) clients.subscribeFollowers(agentId, { of: ownerId });
        if (interrupt) await thread.interruptAndWait('parent');
        const place = this.#admission.reserve(sessionId, agentId, limits);
        try {
          // It may do no more than the thread that it works for may do now.
          const changes = owner === null ? [] : await thread.settingsChanges.confine(inTurn(owner));
          for (const change of changes)
            clients.publish({ threadId: agentId }, change.method, change.params);
          const params = { threadId: agentId, input, rootTurnId: owner?.rootTurnId ?? null };
          const { turn, afterAnswer } = await thread.startTurn(params, () => {}, 'parent');
          afterAnswer();
          return turn.id;
        } finally {
          this.#admission.release(sessionId, place);
        }
      });
    } finally {
      this.#noteIfIdle(agentId);
    }
  }

  async reopen(ownerId: string, agentId: string, limits: AgentLimits): Promise<void> {
    const agent = await this.#agent(ownerId, agentId);
    if (agent.agentClosedAtMs === null) return;
    await this.#admission.readmit(agent, limits, async () => {
      await this.#deps.store.updateThread(agentId, { agentClosedAtMs: null });
    });
  }

  async close(ownerId: string, agentId: string): Promise<void> {
    await this.#agent(ownerId, agentId);
    await this.#close(agentId);
  }

  /** Closes the open agents that a thread has started in turns that it no longer has. */
  async closeOrphans(ownerId: string): Promise<void> {
    for (const id of (await this.#deps.store.leftAgents(ownerId)).orphans) await this.#close(id);
  }

  /**
   * Finishes what a killed server has left of the agents of a thread that has been loaded, and
   * counts their tokens.
   */
  async tidy(ownerId: string): Promise<void> {
    const { store, threads, log } = this.#deps;
    const { unlisted, orphans } = await store.leftAgents(ownerId);
    await sweepAgents(ownerId, unlisted, {
      store,
      log,
      isLoaded: (id) => threads.find(id) !== null,
    });
    for (const id of orphans) await this.#close(id);
    await this.usage.count([ownerId]);
  }

  /**
   * Retires a thread and those of the agents below it that `takes` accepts, the deepest first.
   * `retired` is called for each as it happens: if a later one fails, this rejects, and those
   * before it stay retired.
   */
  async retire(threadId: string, { retired, ...options }: RetireOptions): Promise<void> {
    const above = this.#above.get(threadId) ?? [];
    const noted = (thread: Retired, ownerId: string | null) => {
      this.#ends.ended(thread.threadId, ownerId);
      retired(thread);
    };
    const { store, threads } = this.#deps;
    let ownerId: string | null = null;
    const retire = (id: string, retiring: () => Promise<unknown>) => {
      ownerId = this.#ownerOf(id);
      return threads.retire(id, retiring);
    };
    const retireUnloaded = (ids: readonly string[], retiring: () => Promise<unknown>) => {
      ownerId = null;
      return threads.loadingNone(ids, async () => {
        if (ids.some((id) => threads.find(id) !== null)) return false;
        await retiring();
        return true;
      });
    };
    // Before the agents are read, so that its turn starts no more of them.
    await threads.find(threadId)?.interruptAndWait('close');
    try {
      await retireTree(
        threadId,
        { ...options, retired: (thread) => noted(thread, ownerId) },
        { store, retire, retireUnloaded },
      );
    } finally {
      await this.usage.count(above);
    }
  }

  interruptBelow(ownerId: string, cause: InterruptCause): Promise<void> {
    return this.interrupts.below(ownerId, cause);
  }

  interruptAbove(agentId: string, cause: InterruptCause): void {
    this.interrupts.above(agentId, cause);
  }

  /**
   * Whether a turn of an agent below a thread runs: it needs the words of the threads above, and
   * counts for their goals.
   */
  runsBelow(ownerId: string): boolean {
    return this.loadedBelow(ownerId).some((id) => this.#deps.threads.find(id)?.isRunning === true);
  }

  /** The ids of the loaded agents below a thread. */
  loadedBelow(ownerId: string): string[] {
    return [...this.#above].flatMap(([id, above]) => (above.includes(ownerId) ? [id] : []));
  }

  async openAgents(ownerId: string): Promise<string[]> {
    const below = await this.#deps.store.listAgents(ownerId);
    return below
      .filter((agent) => parentOf(agent) === ownerId && isOpen(agent))
      .map(({ id }) => id);
  }

  async states(ownerId: string, agentIds: readonly string[]): Promise<Map<string, AgentState>> {
    const below = new Map(
      (await this.#deps.store.listAgents(ownerId)).map((agent) => [agent.id, agent]),
    );
    const states = agentIds.map(
      async (id) => [id, await this.#state(below.get(id) ?? null)] as const,
    );
    return new Map(await Promise.all(states));
  }

  changed(agentIds: readonly string[], signal: AbortSignal): Promise<void> {
    return this.#ends.next(agentIds, signal);
  }

  async saidAbove(agentId: string): Promise<AuthoredItem[]> {
    const said = [];
    const { store, threads } = this.#deps;
    for (const id of (this.#above.get(agentId) ?? []).toReversed()) {
      const thread = threads.find(id);
      const record = thread?.record ?? (await store.getThread(id));
      if (record === null) continue;
      said.push(
        ...saidAsGoal(record.goal),
        ...(await (thread?.part(Guardian).userMessages() ?? saidIn(id, store))),
      );
    }
    return said;
  }

  version(ownerId: string): number {
    return this.#ends.version(ownerId);
  }

  /**
   * The threads above a thread, the nearest first; none for a thread that no agent has started.
   * Rejects with the store's error.
   */
  async above(record: ThreadRecord): Promise<string[]> {
    const above: string[] = [];
    for (
      let id = parentOf(record);
      id !== null && id !== record.id && !above.includes(id) && above.length < LEVELS_MAX;
    ) {
      above.push(id);
      const parent = this.#deps.threads.find(id)?.record ?? (await this.#deps.store.getThread(id));
      id = parent === null ? null : parentOf(parent);
    }
    return above;
  }

  /**
   * A thread is loaded. Its questions are also asked of the clients that follow a thread above it.
   */
  noteLoaded(thread: LoadedThread, above: readonly string[]): void {
    if (above.length === 0) return;
    this.#above.set(thread.id, above);
    this.#deps.clients.adopt(thread.id, above);
  }

  /** A thread is not loaded any more. */
  noteUnloaded({ id, record }: LoadedThread): void {
    this.#ends.forget(id);
    this.usage.forget(id);
    this.#above.delete(id);
    this.#opened.delete(id);
    this.#idle.remove(record.sessionId, id);
    this.#deps.clients.disown(id);
  }

  /**
   * A client has loaded the thread itself: if it is an agent, it stays loaded as any thread does.
   */
  noteOpened({ id, record }: LoadedThread): void {
    if (!this.#above.has(id)) return;
    this.#opened.add(id);
    this.#idle.remove(record.sessionId, id);
  }

  /** A turn of the thread has ended. */
  turnEnded(threadId: string): void {
    this.#ends.ended(threadId, this.#ownerOf(threadId));
    this.usage.turnEnded(threadId);
    this.#noteIfIdle(threadId);
  }

  /** The thread that has started an agent, if it is loaded. */
  #ownerOf(agentId: string): string | null {
    const ownerId = this.#above.get(agentId)?.[0] ?? null;
    return ownerId !== null && this.#deps.threads.find(ownerId) !== null ? ownerId : null;
  }

  async #close(agentId: string): Promise<void> {
    const { store, clients, clock } = this.#deps;
    const retired = ({ threadId, wasLoaded }: Retired) => {
      if (!wasLoaded) return;
      clients.publish({ threadId }, 'thread/status/changed', {
        threadId,
        status: { type: 'notLoaded' },
      });
      clients.publish('everyone', 'thread/closed', { threadId });
      clients.unsubscribeAll(threadId);
    };
    const change = (id: string) => store.updateThread(id, { agentClosedAtMs: clock.now() });
    await this.retire(agentId, {
      change,
      takes: ({ agentClosedAtMs }) => agentClosedAtMs === null,
      retired,
    });
  }

  #noteIfIdle(agentId: string): void {
    const { threads, log } = this.#deps;
    const thread = threads.find(agentId);
    if (
      thread === null ||
      thread.isRunning ||
      !this.#above.has(agentId) ||
      this.#opened.has(agentId)
    )
      return;
    for (const id of this.#idle.add(thread.record.sessionId, agentId)) {
      const surplus = threads.find(id);
      if (surplus !== null)
        threads
          .unloadAgent(surplus)
          .catch((error: unknown) =>
            log.error({ err: error, threadId: id }, 'an idle agent could not be unloaded'),
          );
    }
  }

  async #state(agent: AgentRecord | null): Promise<AgentState> {
    if (agent === null) return agentState(null);
    const isRunning = this.#deps.threads.find(agent.id)?.isRunning === true;
    const { data } = await this.#deps.store.listTurns(agent.id, {
      direction: 'desc',
      limit: 1,
      view: 'summary',
    });
    return agentState({ closedAtMs: agent.agentClosedAtMs, isRunning, lastTurn: data[0] ?? null });
  }

  /** Begins the first turn of an agent. If it cannot begin, there is no agent. */
  async #begin(
    parent: LoadedThread,
    thread: LoadedThread,
    { input, signal }: { input: UserInput[]; signal: AbortSignal },
  ): Promise<void> {
    const { store, clients, threads } = this.#deps;
    try {
      if (signal.aborted) throw new AgentRefused(NOT_BEGUN);
      this.#idle.remove(thread.record.sessionId, thread.id);
      clients.subscribeFollowers(thread.id, { of: parent.id });
      const { afterAnswer } = await thread.startTurn(
        { threadId: thread.id, input, rootTurnId: parent.rootTurnId },
        () => {},
        'parent',
      );
      threads.announce(thread);
      afterAnswer();
    } catch (error) {
      clients.unsubscribeAll(thread.id);
      await threads.retire(thread.id, () => store.deleteThread(thread.id));
      throw error;
    }
  }

  async #agent(ownerId: string, agentId: string): Promise<AgentRecord> {
    const agent = (await this.#deps.store.listAgents(ownerId)).find(({ id }) => id === agentId);
    if (agent === undefined)
      throw new AgentRefused(`There is no agent ${agentId} that you have started.`);
    if (agent.archivedAtMs !== null) throw new AgentRefused(`The agent ${agentId} is archived.`);
    return agent;
  }
}

const NOT_BEGUN = 'The turn was interrupted before the agent began.';
