import { EventLoopYield } from '../../base/event-loop-yield.ts';
import { noRolloutFound, threadArchived } from '../../protocol/errors/thread-errors.ts';
import type { LogEntry } from '../../store/log-entry.ts';
import { spawnSource } from '../../store/spawn-source.ts';
import type { ThreadRecord, ThreadSettings } from '../../store/thread-record.ts';
import type { ForkPoint } from '../../store/thread-store.ts';
import { costAt } from '../history/cost-at.ts';
import { historyFacts } from '../history/history-facts.ts';
import { isBeforeAll } from '../history/reverting-patch.ts';
import { AgentRefused, type NewAgent } from '../lineage/agent-tree.ts';
import { parentOf } from '../lineage/parent-of.ts';
import type { Services } from '../services.ts';
import { keptSettings } from '../settings/kept-settings.ts';
import type { ThreadConfiguration } from '../settings/thread-configuration.ts';
import { configureAgentAgain } from './configure-agent-again.ts';
import { LoadedThread, type LoadedThreadOptions } from './loaded-thread.ts';
import { checkThreadId, type LoadedThreads } from './loaded-threads.ts';
import { newAgentThread } from './new-agent-thread.ts';
import {
  changesSettings,
  configureThread,
  type NewThread,
  newThread,
  type ThreadRequest,
} from './new-thread.ts';
import { reloadConfiguration } from './reload-configuration.ts';
import type { ThreadUnloader } from './thread-unloader.ts';

/** More levels than any limit allows, for damaged data. */
const LEVELS_MAX = 1_000;

/** The things that all threads of a server get when they are loaded. */
type LoadedThreadKit = Pick<LoadedThreadOptions, 'kinds' | 'onTurnEnded'>;

/** Loads threads: new ones, stored ones and those of agents. */
export class ThreadLoader {
  readonly #services: Services;
  readonly #own: LoadedThreadKit;
  readonly #loaded: LoadedThreads;
  readonly #unloader: ThreadUnloader;
  readonly #breaks = new EventLoopYield();

  constructor(
    services: Services,
    loaded: LoadedThreads,
    unloader: ThreadUnloader,
    own: LoadedThreadKit,
  ) {
    this.#services = services;
    this.#own = own;
    this.#loaded = loaded;
    this.#unloader = unloader;
  }

  /** Stores and loads a thread that begins with this history. */
  async create(request: NewThread, history: LogEntry[]): Promise<LoadedThread> {
    const { record, configuration } = await newThread(this.#services, request, {});
    const begun = { ...record, ...historyFacts(history) };
    const writer = await this.#services.store.createThread(begun, history);
    const thread = this.#made({
      record: begun,
      writer,
      configuration,
      origin: request.origin ?? 'startup',
    });
    this.#loaded.add(thread);
    return thread;
  }

  /**
   * Loads a stored thread, or returns the loaded one. If a turn runs in it, the request's overrides
   * are ignored.
   */
  resume(threadId: string, request: ThreadRequest): Promise<LoadedThread> {
    checkThreadId(threadId);
    return this.#loaded.loading.run(threadId, async () => {
      const loaded = this.#loaded.find(threadId);
      if (loaded !== null) return this.#rejoin(loaded, request);
      const thread = await this.#loadStored(threadId, request);
      this.#unloader.noteOpened(thread);
      return thread;
    });
  }

  /**
   * Loads an agent, unless it is loaded, with the settings of the request that loaded its owner,
   * and uses it. Shares the queue of loading, so the agent is not unloaded meanwhile. `owner`: the
   * thread that it works for.
   */
  using<T>(
    agentId: string,
    owner: LoadedThread | null,
    use: (thread: LoadedThread, wasLoaded: boolean) => Promise<T>,
  ): Promise<T> {
    return this.#loaded.loading.run(agentId, async () => {
      if (this.#unloader.closing !== null)
        throw new AgentRefused('The server is being shut down, so agents cannot be reached.');
      const loaded = this.#loaded.find(agentId);
      this.#unloader.keepLoaded(agentId);
      const inherited = owner?.configuration.requested ?? null;
      try {
        const request = { overrides: {}, config: null, inherited, knowsModes: true };
        const thread = loaded ?? (await this.#loadStored(agentId, request));
        return await use(thread, loaded !== null);
      } finally {
        this.#unloader.unloadWhenIdle(agentId);
      }
    });
  }

  /** Stores and loads a thread with the source's history up to this point. */
  async fork(source: ThreadRecord, point: ForkPoint, request: NewThread): Promise<LoadedThread> {
    const { store } = this.#services;
    const { record, configuration } = await newThread(
      this.#services,
      request,
      keptSettings(source.settings, request),
    );
    const forked: ThreadRecord = {
      ...record,
      forkedFromId: source.id,
      name: source.name,
      ...((await isBeforeAll(store, source.id, point))
        ? {}
        : {
            preview: source.preview,
            previewIsCommand: source.previewIsCommand,
            listed: source.listed,
          }),
      tokenUsage: point === null ? source.tokenUsage : await costAt(store, source.id, point),
      // For a history that is cut, the context that the model was last told is unknown.
      told: point === null ? source.told : null,
      memoryMode: source.memoryMode,
      clientTools: source.clientTools,
    };
    const writer = await store.forkThread(source.id, point, forked);
    const thread = this.#made({
      record: forked,
      writer,
      configuration,
      origin: 'fork',
    });
    this.#loaded.add(thread);
    return thread;
  }

  /** Stores and loads the thread of a new agent. */
  async startAgent(
    parent: LoadedThread,
    agent: NewAgent & { nickname: string },
  ): Promise<LoadedThread> {
    // Its configuration is read at once, and a response may start many.
    await this.#breaks.yielded();
    if (this.#unloader.closing !== null)
      throw new AgentRefused('The server is being shut down, so it cannot start agents.');
    const { store } = this.#services;
    const { record, configuration } = await newAgentThread(this.#services, parent, agent);
    const above = await this.#above(record);
    const writer = agent.forksHistory
      ? await store.forkThread(parent.id, null, record)
      : await store.createThread(record);
    const thread = this.#made({
      record,
      writer,
      configuration,
      origin: 'startup',
    });
    this.#loaded.add(thread, above);
    return thread;
  }

  #made(options: Omit<LoadedThreadOptions, 'services' | 'kinds' | 'onTurnEnded'>): LoadedThread {
    return new LoadedThread({ ...options, ...this.#own, services: this.#services });
  }

  async #rejoin(thread: LoadedThread, request: ThreadRequest): Promise<LoadedThread> {
    this.#unloader.keepLoaded(thread.id);
    this.#unloader.noteOpened(thread);
    if (!changesSettings(request))
      await reloadConfiguration([thread], this.#services, { reload: 'provider' });
    else await thread.settingsChanges.reconfigure(() => this.#configureLoaded(thread, request));
    return thread;
  }

  /** The settings and the configuration of a loaded thread with a further request. */
  #configureLoaded(
    { record, configuration }: LoadedThread,
    request: ThreadRequest,
  ): Promise<{ settings: ThreadSettings; configuration: ThreadConfiguration }> {
    return spawnSource(record.source) === null
      ? configureThread(this.#services, request, record.settings)
      : configureAgentAgain(this.#services, record, {
          ...request,
          inherited: configuration.requested,
        });
  }

  async #loadStored(threadId: string, request: ThreadRequest): Promise<LoadedThread> {
    const thread = await this.#open(threadId, request);
    try {
      await this.#services.agents.tidy(threadId);
      return thread;
    } catch (error) {
      // Nobody follows it yet, so nothing else would unload it.
      await this.#unloader.close(thread);
      throw error;
    }
  }

  /** Opens a stored thread, and stores the settings that it has with the request. */
  async #open(threadId: string, request: ThreadRequest): Promise<LoadedThread> {
    const { store } = this.#services;
    const record = await store.getThread(threadId);
    if (record === null) throw noRolloutFound(threadId);
    if (record.archivedAtMs !== null) throw threadArchived(threadId);
    const above = await this.#above(record);
    const { settings, configuration } = await (above.length > 0
      ? configureAgentAgain(this.#services, record, request)
      : configureThread(this.#services, request, keptSettings(record.settings, request)));
    const writer = await store.openWriter(threadId);
    const thread = this.#made({
      record,
      writer,
      configuration,
      origin: 'resume',
    });
    try {
      await thread.update({ settings });
    } catch (error) {
      // Not registered yet, so nothing else would close it.
      await thread.close();
      throw error;
    }
    this.#loaded.add(thread, above);
    return thread;
  }

  /**
   * The threads above a thread, the nearest first; none for a thread that no agent has started.
   * Rejects with the store's error.
   */
  async #above(record: ThreadRecord): Promise<string[]> {
    const above: string[] = [];
    for (
      let id = parentOf(record);
      id !== null && id !== record.id && !above.includes(id) && above.length < LEVELS_MAX;
    ) {
      above.push(id);
      const parent = this.#loaded.find(id)?.record ?? (await this.#services.store.getThread(id));
      id = parent === null ? null : parentOf(parent);
    }
    return above;
  }
}
