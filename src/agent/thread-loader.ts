import { noRolloutFound, threadArchived } from '../protocol/thread-errors.ts';
import type { LogEntry } from '../store/log-entry.ts';
import { spawnSource } from '../store/spawn-source.ts';
import type { ThreadRecord, ThreadSettings } from '../store/thread-record.ts';
import type { ForkPoint } from '../store/thread-store.ts';
import type { AgentDeps } from './agent-deps.ts';
import { configureAgentAgain } from './configure-agent-again.ts';
import { costAt } from './history/cost-at.ts';
import { historyFacts } from './history/history-facts.ts';
import { isBeforeAll } from './history/reverting-patch.ts';
import { LoadedThread } from './loaded-thread.ts';
import type { LoadedTree } from './loaded-tree.ts';
import { newAgentThread } from './new-agent-thread.ts';
import { configureThread, type NewThread, newThread, type ThreadRequest } from './new-thread.ts';
import { keptSettings } from './settings/resolve-settings.ts';
import type { ThreadConfiguration } from './settings/thread-configuration.ts';
import type { NewAgent } from './sub-agents/agent-tree.ts';

/**
 * A thread with its writer. `above`: the threads above it, the nearest first; none if it is no
 * agent.
 */
export interface Loading {
  thread: LoadedThread;
  above: readonly string[];
}

/** Makes loaded threads. The caller registers them. */
export class ThreadLoader {
  readonly #deps: AgentDeps;
  readonly #agents: Pick<LoadedTree, 'above'>;

  constructor(deps: AgentDeps, agents: Pick<LoadedTree, 'above'>) {
    this.#deps = deps;
    this.#agents = agents;
  }

  /** Stores a thread that begins with this history. */
  async create(request: NewThread, history: LogEntry[]): Promise<LoadedThread> {
    const { record, configuration } = await newThread(this.#deps, request, {});
    const begun = { ...record, ...historyFacts(history) };
    const writer = await this.#deps.store.createThread(begun, history);
    return new LoadedThread({
      record: begun,
      writer,
      configuration,
      agent: this.#deps,
      origin: request.origin ?? 'startup',
    });
  }

  /** Opens a stored thread, and stores the settings that it has with the request. */
  async open(threadId: string, request: ThreadRequest): Promise<Loading> {
    const { store } = this.#deps;
    const record = await store.getThread(threadId);
    if (record === null) throw noRolloutFound(threadId);
    if (record.archivedAtMs !== null) throw threadArchived(threadId);
    const above = await this.#agents.above(record);
    const { settings, configuration } = await (above.length > 0
      ? configureAgentAgain(this.#deps, record, request)
      : configureThread(this.#deps, request, keptSettings(record.settings, request)));
    const writer = await store.openWriter(threadId);
    const thread = new LoadedThread({
      record,
      writer,
      configuration,
      agent: this.#deps,
      origin: 'resume',
    });
    try {
      await thread.update({ settings });
    } catch (error) {
      // Not registered yet, so nothing else would close it.
      await thread.close();
      throw error;
    }
    return { thread, above };
  }

  /** The settings and the configuration of a loaded thread with a further request. */
  configureLoaded(
    { record, configuration }: LoadedThread,
    request: ThreadRequest,
  ): Promise<{ settings: ThreadSettings; configuration: ThreadConfiguration }> {
    return spawnSource(record.source) === null
      ? configureThread(this.#deps, request, record.settings)
      : configureAgentAgain(this.#deps, record, { ...request, inherited: configuration.requested });
  }

  /** Stores a thread with the source's history up to this point. */
  async fork(source: ThreadRecord, point: ForkPoint, request: NewThread): Promise<LoadedThread> {
    const { store } = this.#deps;
    const { record, configuration } = await newThread(
      this.#deps,
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
    return new LoadedThread({
      record: forked,
      writer,
      configuration,
      agent: this.#deps,
      origin: 'fork',
    });
  }

  /** Stores the thread of a new agent. */
  async startAgent(parent: LoadedThread, agent: NewAgent & { nickname: string }): Promise<Loading> {
    const { store } = this.#deps;
    const { record, configuration } = await newAgentThread(this.#deps, parent, agent);
    const above = await this.#agents.above(record);
    const writer = agent.forksHistory
      ? await store.forkThread(parent.id, null, record)
      : await store.createThread(record);
    return {
      thread: new LoadedThread({
        record,
        writer,
        configuration,
        agent: this.#deps,
        origin: 'startup',
      }),
      above,
    };
  }
}
