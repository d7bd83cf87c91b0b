import { isUuid } from '../../base/ids.ts';
import { KeyedQueue } from '../../base/keyed-queue.ts';
import { invalidThreadId, threadNotFound } from '../../protocol/errors/thread-errors.ts';
import type { Thread, Turn } from '../../protocol/generated/types.ts';
import { spawnSource } from '../../store/spawn-source.ts';
import type { ThreadRecord } from '../../store/thread-record.ts';
import type { ClientChannel } from '../client-channel.ts';
import type { LoadedThread } from './loaded-thread.ts';
import { threadView } from './thread-view.ts';

/** Throws an RpcError if this cannot be the id of a thread. */
export function checkThreadId(threadId: string): void {
  if (!isUuid(threadId)) throw invalidThreadId(threadId);
}

/** The threads in memory, and which of them are agents below others. */
export class LoadedThreads {
  /**
   * What loads or unloads a thread, by its id. Two requests may name one thread by its id and by
   * its path, and must not load it twice.
   */
  readonly loading = new KeyedQueue();
  readonly #clients: ClientChannel;
  readonly #byId = new Map<string, LoadedThread>();
  /** By loaded agent: the threads above it, the nearest first, loaded or not. */
  readonly #above = new Map<string, readonly string[]>();

  constructor(clients: ClientChannel) {
    this.#clients = clients;
  }

  /** The ids of all loaded threads, oldest first. */
  ids(): string[] {
    return [...this.#byId.keys()].sort();
  }

  all(): LoadedThread[] {
    return [...this.#byId.values()];
  }

  find(threadId: string): LoadedThread | null {
    return this.#byId.get(threadId) ?? null;
  }

  /** Returns the loaded thread. Throws `thread_not_found` if it is not loaded. */
  require(threadId: string): LoadedThread {
    checkThreadId(threadId);
    const thread = this.find(threadId);
    if (thread === null) throw threadNotFound(threadId);
    return thread;
  }

  /** A thread, loaded or not, as clients see it: its record, its current status and these turns. */
  view(record: ThreadRecord, turns: Turn[] = []): Thread {
    return threadView(record, this.find(record.id)?.status ?? { type: 'notLoaded' }, turns);
  }

  /**
   * `above`: the threads above an agent, the nearest first; none for other threads. The questions
   * of an agent are also asked of the clients that follow a thread above it.
   */
  add(thread: LoadedThread, above: readonly string[] = []): void {
    this.#byId.set(thread.id, thread);
    if (above.length === 0) return;
    this.#above.set(thread.id, above);
    this.#clients.adopt(thread.id, above);
  }

  remove({ id }: LoadedThread): void {
    this.#byId.delete(id);
    this.#above.delete(id);
    this.#clients.disown(id);
  }

  /** The threads above a loaded agent, the nearest first, loaded or not. */
  above(agentId: string): readonly string[] {
    return this.#above.get(agentId) ?? [];
  }

  /** The ids of the loaded agents below a thread. */
  below(threadId: string): string[] {
    return [...this.#above].flatMap(([id, above]) => (above.includes(threadId) ? [id] : []));
  }

  /** The thread that has started an agent, if it is loaded. */
  ownerOf(agentId: string): string | null {
    const ownerId = this.above(agentId)[0] ?? null;
    return ownerId !== null && this.find(ownerId) !== null ? ownerId : null;
  }

  /** Whether a turn runs in a thread, or is being begun. */
  isRunning(threadId: string): boolean {
    return this.find(threadId)?.isRunning === true;
  }

  /** The threads in which a turn runs or is being begun. */
  running(): LoadedThread[] {
    return this.all().filter(({ isRunning }) => isRunning);
  }

  /**
   * Resolves when the turns that run now, or are being begun, have ended, and those of their
   * agents.
   */
  async turnsEnded(): Promise<void> {
    const running = this.running();
    const sessions = new Set(running.map(({ record }) => record.sessionId));
    await Promise.all(running.map((thread) => thread.turnEnded()));
    // Agents may have started others meanwhile.
    for (;;) {
      const agents = this.running().filter(
        ({ record }) => spawnSource(record.source) !== null && sessions.has(record.sessionId),
      );
      if (agents.length === 0) return;
      await Promise.all(agents.map((thread) => thread.turnEnded()));
    }
  }
}
