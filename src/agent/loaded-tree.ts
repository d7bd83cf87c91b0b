import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { CollabAgentState, UserInput } from '../protocol/generated/types.ts';
import type { AuthoredItem } from '../store/model-items.ts';
import { spawnSource } from '../store/spawn-source.ts';
import type { AgentRecord, ThreadRecord, ThreadStore } from '../store/thread-store.ts';
import type { InterruptCause } from '../tools/denial.ts';
import type { ClientChannel } from './client-channel.ts';
import { GoalKeeper } from './goal/goal-keeper.ts';
import { Guardian } from './guardian/guardian.ts';
import type { LoadedThread } from './loaded-thread.ts';
import { confined } from './settings/confined-settings.ts';
import { AgentEnds } from './sub-agents/agent-ends.ts';
import { agentState } from './sub-agents/agent-state.ts';
import { type AgentLimits, AgentRefused, type AgentTree, type NewAgent, type StartedAgent } from './sub-agents/agent-tree.ts';
import { AgentsUsage } from './sub-agents/agents-usage.ts';
import { IdleAgents } from './sub-agents/idle-agents.ts';
import { isAgentOf, isOpen, parentOf } from './sub-agents/parent-of.ts';
import { pickNickname } from './sub-agents/pick-nickname.ts';
import { type Reservation, Reservations } from './sub-agents/reservations.ts';
import { SubAgents } from './sub-agents/sub-agents.ts';

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
    /** Loads an agent, unless it is loaded, and uses it. It is not unloaded meanwhile. `owner`: the thread that it works for. */
    using<T>(agentId: string, owner: LoadedThread | null, use: (thread: LoadedThread, wasLoaded: boolean) => Promise<T>): Promise<T>;
    retire(threadId: string, change: () => Promise<unknown>): Promise<boolean>;
    /** Tells the followers of a thread that it exists. */
    announce(thread: LoadedThread): void;
    /** Unloads an agent that no turn runs in, though clients follow it. */
    unloadAgent(thread: LoadedThread): Promise<void>;
  };
}

/** How many agents of a session stay loaded without a turn. The others are loaded again when they are sent input. */
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
  readonly #reservations = new Reservations();
  readonly #idle = new IdleAgents(IDLE_AGENTS_MAX);
  readonly #ends = new AgentEnds();
  readonly usage: AgentsUsage;

  constructor(deps: LoadedTreeDeps) {
    this.#deps = deps;
    const { store, threads } = deps;
    this.usage = new AgentsUsage({
      store,
      loaded: (threadId) => threads.find(threadId)?.record ?? null,
      above: (threadId) => this.#above.get(threadId) ?? [],
      tell: (threadId, used) => {
        threads.find(threadId)?.part(GoalKeeper).agentsUsed(used);
        threads.find(threadId)?.part(SubAgents).agentsUsed();
      },
    });
  }

  async start(parentId: string, agent: NewAgent, input: UserInput[], signal: AbortSignal): Promise<StartedAgent> {
    const parent = this.#deps.threads.find(parentId);
    if (parent === null) throw new AgentRefused('The thread is being closed, so it cannot start agents.');
    const { sessionId } = parent.record;
    const place = this.#reserve(sessionId, null, agent.limits);
    try {
      const nickname = await this.#admit(sessionId, agent, place);
      if (signal.aborted) throw new AgentRefused(NOT_BEGUN);
      const thread = await this.#deps.threads.startAgent(parent, { ...agent, nickname });
      place.agentId = thread.id;
      await this.#begin(parent, thread, { input, signal });
      return { id: thread.id, nickname, model: thread.settings.model, effort: thread.settings.effort };
    } finally {
      this.#reservations.release(sessionId, place);
    }
  }

  async send(
    ownerId: string,
    agentId: string,
    { input, interrupt, limits }: { input: UserInput[]; interrupt: boolean; limits: AgentLimits },
  ): Promise<string> {
    const { sessionId, agentClosedAtMs } = await this.#agent(ownerId, agentId);
    if (agentClosedAtMs !== null) throw new AgentRefused(`The agent ${agentId} is closed: open it again with resume_agent first.`);
    const place = this.#deps.threads.find(agentId)?.isRunning === true ? null : this.#reserve(sessionId, agentId, limits);
    try {
      const owner = this.#deps.threads.find(ownerId);
      return await this.#deps.threads.using(agentId, owner, async (thread, wasLoaded) => {
        this.#idle.remove(sessionId, agentId);
        if (!wasLoaded) this.#deps.clients.subscribeFollowers(agentId, { of: ownerId });
        if (interrupt) await thread.interruptAndWait('parent');
        // It may do no more than the thread that it works for may do now.
        const changes =
          owner === null ? [] : await thread.changeSettings((settings) => confined(settings, owner.turn?.settings ?? owner.settings));
        for (const { method, params } of changes) this.#deps.clients.publish({ threadId: agentId }, method, params);
        const params = { threadId: agentId, input, rootTurnId: owner?.rootTurnId ?? null };
        const { turn, afterAnswer } = await thread.startTurn(params, () => {}, 'parent');
        afterAnswer();
        return turn.id;
      });
    } finally {
      if (place !== null) this.#reservations.release(sessionId, place);
      this.#noteIfIdle(agentId);
    }
  }

  async reopen(ownerId: string, agentId: string, limits: AgentLimits): Promise<void> {
    const agent = await this.#agent(ownerId, agentId);
    if (agent.agentClosedAtMs === null) return;
    this.#checkOpen(agent.sessionId, await this.#open(agent.sessionId), limits);
    await this.#deps.store.updateThread(agentId, { agentClosedAtMs: null });
  }

  async close(ownerId: string, agentId: string): Promise<void> {
    await this.#agent(ownerId, agentId);
    await this.#close(agentId);
  }

  /** Closes the open agents that a thread has started in turns that it no longer has. */
  async closeOrphans(ownerId: string, hasTurn: (turnId: string) => Promise<boolean>): Promise<void> {
    for (const agent of await this.#deps.store.listAgents(ownerId)) {
      const isOwn = parentOf(agent) === ownerId && isOpen(agent);
      if (isOwn && agent.spawnTurnId !== null && !(await hasTurn(agent.spawnTurnId))) await this.#close(agent.id);
    }
  }

  /**
   * Retires a thread and those of the agents below it that `takes` accepts, the deepest first: a failure leaves no agent without the
   * thread that started it. Resolves with the threads, in the order in which they were retired.
   */
  async retire(
    threadId: string,
    change: (threadId: string) => Promise<unknown>,
    takes: (agent: AgentRecord) => boolean,
  ): Promise<{ threadId: string; wasLoaded: boolean }[]> {
    const retired: { threadId: string; wasLoaded: boolean }[] = [];
    const above = this.#above.get(threadId) ?? [];
    const retire = async (id: string) => {
      const ownerId = this.#ownerOf(id);
      retired.push({ threadId: id, wasLoaded: await this.#deps.threads.retire(id, () => change(id)) });
      this.#ends.ended(id, ownerId);
    };
    // Before the agents are read, so that its turn starts no more of them.
    await this.#deps.threads.find(threadId)?.interruptAndWait('close');
    let isRetired = false;
    // Read again, because a thread may have started others while those below it were retired.
    for (;;) {
      const done = new Set(retired.map((each) => each.threadId));
      const below = (await this.#deps.store.listAgents(threadId)).filter((agent) => !done.has(agent.id) && takes(agent));
      for (const { id } of below.reverse()) await retire(id);
      if (below.length > 0) continue;
      if (isRetired) break;
      await retire(threadId);
      isRetired = true;
    }
    await this.usage.count(above);
    return retired;
  }

  async interruptBelow(ownerId: string, cause: InterruptCause): Promise<void> {
    await Promise.all(this.loadedBelow(ownerId).map(async (id) => this.#deps.threads.find(id)?.interruptAndWait(cause)));
  }

  /** For the user: interrupts the turns of all agents below a thread, once its own turn has ended. */
  async interruptAfter(turnEnd: Promise<void> | undefined, threadId: string): Promise<void> {
    await turnEnd;
    await this.interruptBelow(threadId, 'parent');
  }

  /** The ids of the loaded agents below a thread. */
  loadedBelow(ownerId: string): string[] {
    return [...this.#above].flatMap(([id, above]) => (above.includes(ownerId) ? [id] : []));
  }

  async openAgents(ownerId: string): Promise<string[]> {
    const below = await this.#deps.store.listAgents(ownerId);
    return below.filter((agent) => parentOf(agent) === ownerId && isOpen(agent)).map(({ id }) => id);
  }

  async states(ownerId: string, agentIds: readonly string[]): Promise<Map<string, CollabAgentState>> {
    const below = new Map((await this.#deps.store.listAgents(ownerId)).map((agent) => [agent.id, agent]));
    const states = agentIds.map(async (id) => [id, await this.#state(below.get(id) ?? null)] as const);
    return new Map(await Promise.all(states));
  }

  changed(agentIds: readonly string[], signal: AbortSignal): Promise<void> {
    return this.#ends.next(agentIds, signal);
  }

  async saidAbove(agentId: string): Promise<AuthoredItem[]> {
    const said = [];
    for (const id of (this.#above.get(agentId) ?? []).toReversed())
      said.push(...((await this.#deps.threads.find(id)?.part(Guardian).userMessages()) ?? []));
    return said;
  }

  version(ownerId: string): number {
    return this.#ends.version(ownerId);
  }

  /** The threads above a thread, the nearest first; none for a thread that no agent has started. Rejects with the store's error. */
  async above(record: ThreadRecord): Promise<string[]> {
    const above: string[] = [];
    for (let id = parentOf(record); id !== null && id !== record.id && !above.includes(id) && above.length < LEVELS_MAX; ) {
      above.push(id);
      const parent = this.#deps.threads.find(id)?.record ?? (await this.#deps.store.getThread(id));
      id = parent === null ? null : parentOf(parent);
    }
    return above;
  }

  /** A thread is loaded. Its questions are also asked of the clients that follow a thread above it. */
  loaded(thread: LoadedThread, above: readonly string[]): void {
    if (above.length === 0) return;
    this.#above.set(thread.id, above);
    this.#deps.clients.adopt(thread.id, above);
    this.#noteIfIdle(thread.id);
  }

  /** A thread is not loaded any more. */
  unloaded({ id, record }: LoadedThread): void {
    this.#ends.forget(id);
    this.usage.forget(id);
    this.#above.delete(id);
    this.#opened.delete(id);
    this.#idle.remove(record.sessionId, id);
    this.#deps.clients.disown(id);
  }

  /** A client has loaded the thread itself: if it is an agent, it stays loaded as any thread does. */
  opened({ id, record }: LoadedThread): void {
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
    const closed = await this.retire(
      agentId,
      (id) => store.updateThread(id, { agentClosedAtMs: clock.now() }),
      ({ agentClosedAtMs }) => agentClosedAtMs === null,
    );
    for (const { threadId } of closed.filter(({ wasLoaded }) => wasLoaded)) {
      clients.publish({ threadId }, 'thread/status/changed', { threadId, status: { type: 'notLoaded' } });
      clients.publish('everyone', 'thread/closed', { threadId });
    }
  }

  #noteIfIdle(agentId: string): void {
    const { threads, log } = this.#deps;
    const thread = threads.find(agentId);
    if (thread === null || thread.isRunning || !this.#above.has(agentId) || this.#opened.has(agentId)) return;
    for (const id of this.#idle.add(thread.record.sessionId, agentId)) {
      const surplus = threads.find(id);
      if (surplus !== null)
        threads
          .unloadAgent(surplus)
          .catch((error: unknown) => log.error({ err: error, threadId: id }, 'an idle agent could not be unloaded'));
    }
  }

  async #state(agent: AgentRecord | null): Promise<CollabAgentState> {
    if (agent === null) return agentState(null);
    const isRunning = this.#deps.threads.find(agent.id)?.isRunning === true;
    const { data } = await this.#deps.store.listTurns(agent.id, { direction: 'desc', limit: 1, view: 'summary' });
    return agentState({ closedAtMs: agent.agentClosedAtMs, isRunning, lastTurn: data[0] ?? null });
  }

  #reserve(sessionId: string, agentId: string | null, { running: limit }: AgentLimits): Reservation {
    const running = [...this.#deps.threads.loaded()].filter(({ record, isRunning }) => isRunning && isAgentOf(record, sessionId));
    return this.#reservations.take(sessionId, agentId, { limit, running: running.map(({ id }) => id) });
  }

  /** Checks that the session may have one more agent, and chooses its nickname. */
  async #admit(sessionId: string, { nicknames, limits }: NewAgent, place: Reservation): Promise<string> {
    const open = await this.#open(sessionId);
    // From here on at once, so that agents that are started side by side see each other.
    const taken = this.#checkOpen(sessionId, open, limits);
    place.nickname = pickNickname(nicknames, new Set(taken));
    return place.nickname;
  }

  async #open(sessionId: string): Promise<AgentRecord[]> {
    return (await this.#deps.store.listAgents(sessionId)).filter(isOpen);
  }

  /** Checks that the session may have one more open agent. Returns the nicknames of those that are open or being started. */
  #checkOpen(sessionId: string, open: readonly AgentRecord[], limits: AgentLimits): string[] {
    // Those whose threads were not stored when the others were read.
    const known = new Set(open.map(({ id }) => id));
    const starting = this.#reservations.of(sessionId).filter(({ agentId, nickname }) => nickname !== null && !known.has(agentId ?? ''));
    if (open.length + starting.length >= limits.open)
      throw new AgentRefused(`The limit of ${limits.open} open agents is reached. Close those that you no longer need with close_agent.`);
    const nicknames = open.map(({ source }) => spawnSource(source)?.agent_nickname ?? null);
    return [...nicknames, ...starting.map(({ nickname }) => nickname)].filter((name) => name !== null);
  }

  /** Begins the first turn of an agent. If it cannot begin, there is no agent. */
  async #begin(parent: LoadedThread, thread: LoadedThread, { input, signal }: { input: UserInput[]; signal: AbortSignal }): Promise<void> {
    const { store, clients, threads } = this.#deps;
    try {
      if (signal.aborted) throw new AgentRefused(NOT_BEGUN);
      this.#idle.remove(thread.record.sessionId, thread.id);
      clients.subscribeFollowers(thread.id, { of: parent.id });
      const { afterAnswer } = await thread.startTurn({ threadId: thread.id, input, rootTurnId: parent.rootTurnId }, () => {}, 'parent');
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
    if (agent === undefined) throw new AgentRefused(`There is no agent ${agentId} that you have started.`);
    if (agent.archivedAtMs !== null) throw new AgentRefused(`The agent ${agentId} is archived.`);
    return agent;
  }
}

const NOT_BEGUN = 'The turn was interrupted before the agent began.';
