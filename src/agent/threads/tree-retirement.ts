import type { AgentCounts } from '../lineage/agent-counts.ts';
import { type Retired, type RetireOptions, retireTree } from '../lineage/retire-tree.ts';
import type { Services } from '../services.ts';
import type { LoadedThreads } from './loaded-threads.ts';
import type { ThreadUnloader } from './thread-unloader.ts';

/** Retires threads with the agents below them, and tells those who wait for these agents. */
export class TreeRetirement {
  readonly #services: Pick<Services, 'runtime' | 'store' | 'clients'>;
  readonly #loaded: LoadedThreads;
  readonly #unloader: ThreadUnloader;
  readonly #counts: AgentCounts;

  constructor(
    services: Pick<Services, 'runtime' | 'store' | 'clients'>,
    loaded: LoadedThreads,
    unloader: ThreadUnloader,
    counts: AgentCounts,
  ) {
    this.#services = services;
    this.#loaded = loaded;
    this.#unloader = unloader;
    this.#counts = counts;
  }

  /**
   * Retires a thread and those of the agents below it that `takes` accepts, the deepest first.
   * `retired` is called for each as it happens: if a later one fails, this rejects, and those
   * before it stay retired.
   */
  async retire(threadId: string, { retired, ...options }: RetireOptions): Promise<void> {
    const above = this.#loaded.above(threadId);
    const { store } = this.#services;
    let ownerId: string | null = null;
    const noted = (thread: Retired) => {
      this.#counts.ends.ended(thread.threadId, ownerId);
      retired(thread);
    };
    const retire = (id: string, retiring: () => Promise<unknown>) => {
      ownerId = this.#loaded.ownerOf(id);
      return this.#unloader.retire(id, retiring);
    };
    const retireUnloaded = (ids: readonly string[], retiring: () => Promise<unknown>) => {
      ownerId = null;
      return this.#loaded.loading.runAll(ids, async () => {
        if (ids.some((id) => this.#loaded.find(id) !== null)) return false;
        await retiring();
        return true;
      });
    };
    // Before the agents are read, so that its turn starts no more of them.
    await this.#loaded.find(threadId)?.interruptAndWait('close');
    try {
      await retireTree(threadId, { ...options, retired: noted }, { store, retire, retireUnloaded });
    } finally {
      await this.#counts.usage.count(above);
    }
  }

  /** Closes an agent and the open agents below it. */
  async closeAgent(agentId: string): Promise<void> {
    const { store, clients, runtime } = this.#services;
    const retired = ({ threadId, wasLoaded }: Retired) => {
      if (!wasLoaded) return;
      clients.publish({ threadId }, 'thread/status/changed', {
        threadId,
        status: { type: 'notLoaded' },
      });
      clients.publish('everyone', 'thread/closed', { threadId });
      clients.unsubscribeAll(threadId);
    };
    const change = (id: string) => store.updateThread(id, { agentClosedAtMs: runtime.clock.now() });
    await this.retire(agentId, {
      change,
      takes: ({ agentClosedAtMs }) => agentClosedAtMs === null,
      retired,
    });
  }
}
