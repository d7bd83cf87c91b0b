import type { Clock } from '../base/clock.ts';
import type { CollabAgentState, TurnStartParams, UserInput } from '../protocol/generated/types.ts';
import { spawnSource } from '../store/spawn-source.ts';
import type { AgentRecord, ThreadStore } from '../store/thread-store.ts';
import type { InterruptCause } from '../tools/denial.ts';
import type { ClientChannel } from './client-channel.ts';
import type { LoadedThread } from './loaded-thread.ts';
import type { ThreadRequest } from './new-thread.ts';
import { confinedSettings } from './settings/confined-settings.ts';
import { agentState } from './sub-agents/agent-state.ts';
import { type AgentLimits, AgentRefused, type AgentTree, type NewAgent, type StartedAgent } from './sub-agents/agent-tree.ts';

interface LoadedTreeDeps {
  store: ThreadStore;
  clients: ClientChannel;
  clock: Clock;
  threads: {
    loaded(): Iterable<LoadedThread>;
    find(threadId: string): LoadedThread | null;
    startAgent(parent: LoadedThread, agent: NewAgent): Promise<LoadedThread>;
    resume(threadId: string, request: ThreadRequest): Promise<LoadedThread>;
    retire(threadId: string, change: () => Promise<unknown>): Promise<boolean>;
    /** How the thread is shown to clients. */
    announce(thread: LoadedThread): void;
    unloadWhenIdle(threadId: string): void;
  };
}

interface Waiter {
  agentIds: ReadonlySet<string>;
  wake(): void;
}

/** The agents of all threads: the loaded ones run here, the others are read from the store. */
export class LoadedTree implements AgentTree {
  readonly #deps: LoadedTreeDeps;
  /** By session: how many agents are about to run. */
  readonly #starting = new Map<string, number>();
  readonly #versions = new Map<string, number>();
  readonly #waiters = new Set<Waiter>();

  constructor(deps: LoadedTreeDeps) {
    this.#deps = deps;
  }

  async start(parentId: string, agent: NewAgent, input: UserInput[], signal: AbortSignal): Promise<StartedAgent> {
    const { store, clients, threads } = this.#deps;
    const parent = this.#loadedOwner(parentId);
    const { sessionId } = parent.record;
    const release = this.#reserve(sessionId, agent.limits);
    try {
      await this.#checkOpen(parent, agent.limits);
      const thread = await threads.startAgent(parent, agent);
      if (signal.aborted) {
        await threads.retire(thread.id, () => store.deleteThread(thread.id));
        throw new AgentRefused('The turn was interrupted before the agent began.');
      }
      clients.subscribeFollowers(thread.id, { of: parentId });
      threads.announce(thread);
      const { afterAnswer } = await thread.startTurn({ threadId: thread.id, input }, () => {});
      afterAnswer();
      return { id: thread.id, model: thread.settings.model, effort: thread.settings.effort };
    } finally {
      release();
    }
  }

  async send(
    ownerId: string,
    agentId: string,
    { input, interrupt, limits }: { input: UserInput[]; interrupt: boolean; limits: AgentLimits },
  ): Promise<string> {
    const agent = await this.#agent(ownerId, agentId);
    if (agent.agentClosedAtMs !== null) throw new AgentRefused(`The agent ${agentId} is closed: open it again with resume_agent first.`);
    const isRunning = this.#deps.threads.find(agentId)?.isRunning === true;
    const release = isRunning ? () => {} : this.#reserve(agent.sessionId, limits);
    try {
      const thread = await this.#load(ownerId, agentId);
      const params: TurnStartParams = { threadId: agentId, input };
      if (interrupt) await thread.interruptAndWait('parent');
      const { turn, afterAnswer } = await thread.startTurn(params, () => {});
      afterAnswer();
      return turn.id;
    } finally {
      release();
    }
  }

  async reopen(ownerId: string, agentId: string): Promise<void> {
    const agent = await this.#agent(ownerId, agentId);
    if (agent.agentClosedAtMs !== null) await this.#deps.store.updateThread(agentId, { agentClosedAtMs: null });
    await this.#load(ownerId, agentId);
  }

  async close(ownerId: string, agentId: string): Promise<void> {
    await this.#agent(ownerId, agentId);
    const { store, threads, clients, clock } = this.#deps;
    const ids = [agentId, ...(await store.listAgents(agentId)).filter((agent) => agent.agentClosedAtMs === null).map(({ id }) => id)];
    // The deepest first, so that none of them loses its parent while it runs.
    for (const id of ids.reverse()) {
      const wasLoaded = await threads.retire(id, () => store.updateThread(id, { agentClosedAtMs: clock.now() }));
      if (wasLoaded) clients.publish('everyone', 'thread/closed', { threadId: id });
      this.ended(id);
    }
  }

  async interruptBelow(ownerId: string, cause: InterruptCause): Promise<void> {
    await Promise.all(this.loadedBelow(ownerId).map((id) => this.#deps.threads.find(id)?.interruptAndWait(cause)));
  }

  /** The ids of the loaded agents below a thread. */
  loadedBelow(ownerId: string): string[] {
    return [...this.#deps.threads.loaded()].filter((thread) => this.#isBelow(thread, ownerId)).map(({ id }) => id);
  }

  async openAgents(ownerId: string): Promise<string[]> {
    const below = await this.#deps.store.listAgents(ownerId);
    return below.filter((agent) => parentOf(agent) === ownerId && isOpen(agent)).map(({ id }) => id);
  }

  async nicknames(sessionId: string): Promise<Set<string>> {
    const open = (await this.#deps.store.listAgents(sessionId)).filter(isOpen);
    return new Set(open.flatMap(({ source }) => spawnSource(source)?.agent_nickname ?? []));
  }

  async states(ownerId: string, agentIds: readonly string[]): Promise<Map<string, CollabAgentState>> {
    const below = new Map((await this.#deps.store.listAgents(ownerId)).map((agent) => [agent.id, agent]));
    const states = agentIds.map(async (id) => [id, await this.#state(below.get(id) ?? null)] as const);
    return new Map(await Promise.all(states));
  }

  changed(agentIds: readonly string[], signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const waiter: Waiter = {
        agentIds: new Set(agentIds),
        wake: () => {
          this.#waiters.delete(waiter);
          signal.removeEventListener('abort', waiter.wake);
          resolve();
        },
      };
      this.#waiters.add(waiter);
      signal.addEventListener('abort', waiter.wake);
    });
  }

  version(ownerId: string): number {
    return this.#versions.get(ownerId) ?? 0;
  }

  /** A turn of the thread has ended, or the thread was closed. */
  ended(threadId: string): void {
    for (const waiter of [...this.#waiters]) if (waiter.agentIds.has(threadId)) waiter.wake();
    const thread = this.#deps.threads.find(threadId);
    const parentId = thread === null ? null : parentOf(thread.record);
    if (parentId !== null) this.#versions.set(parentId, this.version(parentId) + 1);
  }

  /** The thread is not loaded any more. */
  forget(threadId: string): void {
    this.#versions.delete(threadId);
  }

  async #state(agent: AgentRecord | null): Promise<CollabAgentState> {
    if (agent === null) return agentState(null);
    const isRunning = this.#deps.threads.find(agent.id)?.isRunning === true;
    const { data } = await this.#deps.store.listTurns(agent.id, { direction: 'desc', limit: 1, view: 'summary' });
    return agentState({ closedAtMs: agent.agentClosedAtMs, isRunning, lastTurn: data[0] ?? null });
  }

  /** Reserves a place for an agent that is about to run, at once. Returns the function that gives it back. */
  #reserve(sessionId: string, { running }: AgentLimits): () => void {
    const starting = this.#starting.get(sessionId) ?? 0;
    const busy = [...this.#deps.threads.loaded()].filter(({ record, isRunning }) => isRunning && isAgentOf(record, sessionId));
    if (busy.length + starting >= running)
      throw new AgentRefused(
        `The limit of ${running} running agents is reached (agents.max_threads). Wait for one with wait_agent, or close one with close_agent.`,
      );
    this.#starting.set(sessionId, starting + 1);
    return () => {
      const left = (this.#starting.get(sessionId) ?? 1) - 1;
      if (left === 0) this.#starting.delete(sessionId);
      else this.#starting.set(sessionId, left);
    };
  }

  async #checkOpen(parent: LoadedThread, { open }: AgentLimits): Promise<void> {
    const count = (await this.#deps.store.listAgents(parent.record.sessionId)).filter(isOpen).length;
    if (count >= open)
      throw new AgentRefused(`The limit of ${open} open agents is reached. Close those that you no longer need with close_agent.`);
  }

  #loadedOwner(ownerId: string): LoadedThread {
    const owner = this.#deps.threads.find(ownerId);
    if (owner === null) throw new AgentRefused('The thread is being closed, so it cannot start agents.');
    return owner;
  }

  async #agent(ownerId: string, agentId: string): Promise<AgentRecord> {
    const agent = (await this.#deps.store.listAgents(ownerId)).find(({ id }) => id === agentId);
    if (agent === undefined) throw new AgentRefused(`There is no agent ${agentId} that you have started.`);
    if (agent.archivedAtMs !== null) throw new AgentRefused(`The agent ${agentId} is archived.`);
    return agent;
  }

  async #load(ownerId: string, agentId: string): Promise<LoadedThread> {
    const { threads, clients } = this.#deps;
    const loaded = threads.find(agentId);
    if (loaded !== null) return loaded;
    const stored = await this.#deps.store.getThread(agentId);
    const thread = await threads.resume(agentId, { overrides: {}, config: null, knowsModes: true });
    const owner = threads.find(ownerId);
    // A resumed thread gets its sandbox from the configuration, which may allow more than the agent was given.
    if (stored !== null && owner !== null) {
      const { sandboxPolicy, approvalPolicy, approvalsReviewer } = confinedSettings(
        stored.settings,
        owner.turn?.settings ?? owner.settings,
      );
      await thread.changeSettings({ sandboxPolicy, approvalPolicy, approvalsReviewer });
    }
    clients.subscribeFollowers(agentId, { of: ownerId });
    threads.unloadWhenIdle(agentId);
    return thread;
  }

  #isBelow(thread: LoadedThread, ancestorId: string): boolean {
    let parentId = parentOf(thread.record);
    for (let depth = 0; parentId !== null && depth < LINEAGE_MAX; depth++) {
      if (parentId === ancestorId) return true;
      const parent = this.#deps.threads.find(parentId);
      parentId = parent === null ? null : parentOf(parent.record);
    }
    return false;
  }
}

/** More levels than any limit allows, for damaged data in which threads form a ring. */
const LINEAGE_MAX = 1_000;

function parentOf({ source }: Pick<AgentRecord, 'source'>): string | null {
  return spawnSource(source)?.parent_thread_id ?? null;
}

function isAgentOf(record: Pick<AgentRecord, 'source' | 'sessionId'>, sessionId: string): boolean {
  return record.sessionId === sessionId && spawnSource(record.source) !== null;
}

function isOpen({ agentClosedAtMs, archivedAtMs }: AgentRecord): boolean {
  return agentClosedAtMs === null && archivedAtMs === null;
}
