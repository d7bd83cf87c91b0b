import type { UserInput } from '../../protocol/generated/types.ts';
import type { AgentRecord } from '../../store/thread-record.ts';
import type { InterruptCause } from '../../tools/denial.ts';
import type { AgentCounts } from '../lineage/agent-counts.ts';
import type { AgentEndSignal } from '../lineage/agent-end-signal.ts';
import { type AgentState, agentState, readAgentState } from '../lineage/agent-state.ts';
import {
  type AgentLimits,
  AgentRefused,
  type AgentTree,
  type NewAgent,
  type StartedAgent,
  type ThreadAbove,
} from '../lineage/agent-tree.ts';
import type { AgentsUsage } from '../lineage/agents-usage.ts';
import { isAgentOf, isOpen, parentOf } from '../lineage/parent-of.ts';
import type { RetireOptions } from '../lineage/retire-tree.ts';
import { sweepAgents } from '../lineage/sweep-agents.ts';
import { TreeInterrupts } from '../lineage/tree-interrupts.ts';
import { readHistory } from '../prompt/read-history.ts';
import type { Services } from '../services.ts';
import { inTurn } from '../settings/confined-settings.ts';
import { Admission } from '../sub-agents/admission.ts';
import type { LoadedThread } from './loaded-thread.ts';
import type { LoadedThreads } from './loaded-threads.ts';
import type { ThreadLoader } from './thread-loader.ts';
import type { ThreadUnloader } from './thread-unloader.ts';
import { TreeRetirement } from './tree-retirement.ts';

interface SubAgentThreadsOptions {
  /** Loads agents. */
  loader: Pick<ThreadLoader, 'startAgent' | 'using'>;
  counts: AgentCounts;
}

/** The agents of all threads: the loaded ones run here, the others are read from the store. */
export class SubAgentThreads implements AgentTree {
  readonly #services: Pick<Services, 'runtime' | 'store' | 'clients'>;
  readonly #loaded: LoadedThreads;
  readonly #unloader: ThreadUnloader;
  readonly #loader: Pick<ThreadLoader, 'startAgent' | 'using'>;
  readonly #admission: Admission;
  readonly #retirement: TreeRetirement;
  readonly #ends: AgentEndSignal;
  readonly usage: AgentsUsage;
  readonly interrupts: TreeInterrupts;

  constructor(
    services: Pick<Services, 'runtime' | 'store' | 'clients'>,
    loaded: LoadedThreads,
    unloader: ThreadUnloader,
    { loader, counts }: SubAgentThreadsOptions,
  ) {
    this.#services = services;
    this.#loaded = loaded;
    this.#unloader = unloader;
    this.#loader = loader;
    const { store } = services;
    this.#admission = new Admission({
      store,
      running: (sessionId) =>
        loaded
          .running()
          .filter(({ record }) => isAgentOf(record, sessionId))
          .map(({ id }) => id),
    });
    this.interrupts = new TreeInterrupts(loaded);
    this.#ends = counts.ends;
    this.usage = counts.usage;
    this.#retirement = new TreeRetirement(services, loaded, unloader, counts);
  }

  async start(
    parentId: string,
    agent: NewAgent,
    input: UserInput[],
    signal: AbortSignal,
  ): Promise<StartedAgent> {
    const parent = this.#loaded.find(parentId);
    if (parent === null)
      throw new AgentRefused('The thread is being closed, so it cannot start agents.');
    const { sessionId } = parent.record;
    const place = this.#admission.reserve(sessionId, null, agent.limits);
    try {
      const nickname = await this.#admission.admit(sessionId, agent, place);
      if (signal.aborted) throw new AgentRefused(NOT_BEGUN);
      const thread = await this.#loader.startAgent(parent, { ...agent, nickname });
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
    const { clients } = this.#services;
    const owner = this.#loaded.find(ownerId);
    try {
      return await this.#loader.using(agentId, owner, async (thread, wasLoaded) => {
        this.#unloader.noteBusy(sessionId, agentId);
        if (!wasLoaded) clients.subscribeFollowers(agentId, { of: ownerId });
        if (interrupt) await thread.interruptAndWait('parent');
        const place = this.#admission.reserve(sessionId, agentId, limits);
        try {
          // It may do no more than the thread that it works for may do now.
          const changes = owner === null ? [] : await thread.settingsChanges.confine(inTurn(owner));
          for (const change of changes)
            clients.publish({ threadId: agentId }, change.method, change.params);
          const params = { threadId: agentId, input, rootTurnId: owner?.rootTurnId ?? null };
          const { turn, afterAnswer } = await thread.turns.start(params, () => {}, 'parent');
          afterAnswer();
          return turn.id;
        } finally {
          this.#admission.release(sessionId, place);
        }
      });
    } finally {
      this.#unloader.noteIfIdle(agentId);
    }
  }

  async reopen(ownerId: string, agentId: string, limits: AgentLimits): Promise<void> {
    const agent = await this.#agent(ownerId, agentId);
    if (agent.agentClosedAtMs === null) return;
    await this.#admission.readmit(agent, limits, async () => {
      await this.#services.store.updateThread(agentId, { agentClosedAtMs: null });
    });
  }

  async close(ownerId: string, agentId: string): Promise<void> {
    await this.#agent(ownerId, agentId);
    await this.#retirement.closeAgent(agentId);
  }

  /** Closes the open agents that a thread has started in turns that it no longer has. */
  async closeOrphans(ownerId: string): Promise<void> {
    for (const id of (await this.#services.store.leftAgents(ownerId)).orphans)
      await this.#retirement.closeAgent(id);
  }

  async tidy(ownerId: string): Promise<void> {
    const { store, runtime } = this.#services;
    const { unlisted, orphans } = await store.leftAgents(ownerId);
    await sweepAgents(ownerId, unlisted, {
      store,
      log: runtime.log,
      isLoaded: (id) => this.#loaded.find(id) !== null,
    });
    for (const id of orphans) await this.#retirement.closeAgent(id);
    await this.usage.count([ownerId]);
  }

  /** Retires a thread and agents below it, as `TreeRetirement` does. */
  retire(threadId: string, options: RetireOptions): Promise<void> {
    return this.#retirement.retire(threadId, options);
  }

  interruptBelow(ownerId: string, cause: InterruptCause): Promise<void> {
    return this.interrupts.below(ownerId, cause);
  }

  interruptAbove(agentId: string, cause: InterruptCause): void {
    this.interrupts.above(agentId, cause);
  }

  /** The ids of the loaded agents below a thread. */
  loadedBelow(ownerId: string): string[] {
    return this.#loaded.below(ownerId);
  }

  async openAgents(ownerId: string): Promise<string[]> {
    const below = await this.#services.store.listAgents(ownerId);
    return below
      .filter((agent) => parentOf(agent) === ownerId && isOpen(agent))
      .map(({ id }) => id);
  }

  async states(ownerId: string, agentIds: readonly string[]): Promise<Map<string, AgentState>> {
    const { store } = this.#services;
    const below = new Map((await store.listAgents(ownerId)).map((agent) => [agent.id, agent]));
    const states = agentIds.map(async (id) => {
      const agent = below.get(id);
      if (agent === undefined) return [id, agentState(null)] as const;
      return [id, await readAgentState(agent, this.#loaded.isRunning(id), store)] as const;
    });
    return new Map(await Promise.all(states));
  }

  changed(agentIds: readonly string[], signal: AbortSignal): Promise<void> {
    return this.#ends.next(agentIds, signal);
  }

  async *historiesAbove(agentId: string): AsyncGenerator<ThreadAbove> {
    const { store } = this.#services;
    for (const id of this.#loaded.above(agentId).toReversed()) {
      const thread = this.#loaded.find(id);
      const record = thread?.record ?? (await store.getThread(id));
      if (record === null) continue;
      const history = thread === null ? await readHistory(id, store) : await thread.readHistory();
      yield { goal: record.goal, history: history ?? [] };
    }
  }

  version(ownerId: string): number {
    return this.#ends.version(ownerId);
  }

  /** A turn of the thread has ended. */
  turnEnded(threadId: string): void {
    this.#ends.ended(threadId, this.#loaded.ownerOf(threadId));
    this.usage.turnEnded(threadId);
    this.#unloader.noteIfIdle(threadId);
  }

  /** Begins the first turn of an agent. If it cannot begin, there is no agent. */
  async #begin(
    parent: LoadedThread,
    thread: LoadedThread,
    { input, signal }: { input: UserInput[]; signal: AbortSignal },
  ): Promise<void> {
    const { store, clients } = this.#services;
    try {
      if (signal.aborted) throw new AgentRefused(NOT_BEGUN);
      this.#unloader.noteBusy(thread.record.sessionId, thread.id);
      clients.subscribeFollowers(thread.id, { of: parent.id });
      const { afterAnswer } = await thread.turns.start(
        { threadId: thread.id, input, rootTurnId: parent.rootTurnId },
        () => {},
        'parent',
      );
      clients.publish({ threadId: thread.id }, 'thread/started', {
        thread: this.#loaded.view(thread.record),
      });
      afterAnswer();
    } catch (error) {
      clients.unsubscribeAll(thread.id);
      await this.#unloader.retire(thread.id, () => store.deleteThread(thread.id));
      throw error;
    }
  }

  async #agent(ownerId: string, agentId: string): Promise<AgentRecord> {
    const agent = (await this.#services.store.listAgents(ownerId)).find(({ id }) => id === agentId);
    if (agent === undefined)
      throw new AgentRefused(`There is no agent ${agentId} that you have started.`);
    if (agent.archivedAtMs !== null) throw new AgentRefused(`The agent ${agentId} is archived.`);
    return agent;
  }
}

const NOT_BEGUN = 'The turn was interrupted before the agent began.';
