import type { Ids } from '../../base/ids.ts';
import { notLoadedToStart } from '../../protocol/errors/queue-errors.ts';
import { noRolloutFound, threadArchived } from '../../protocol/errors/thread-errors.ts';
import type { QueuedSubmission, ThreadQueueHold } from '../../protocol/generated/types.ts';
import type { RpcError } from '../../protocol/rpc-error.ts';
import type { QueueRecord } from '../../store/queue-record.ts';
import type { ThreadRecord } from '../../store/thread-record.ts';
import type { ThreadStore } from '../../store/thread-store.ts';
import type { ClientChannel } from '../client-channel.ts';
import { checkInput } from '../prompt/check-input.ts';
import type { StoredChange } from '../thread-state.ts';
import type { DueInput } from '../turn/due-input.ts';
import type { Joined } from '../turn/turn-starter.ts';
import { added, NO_QUEUE, type QueueChange, removed, reordered, updated } from './queue-change.ts';
import { SubmissionQueue } from './submission-queue.ts';

/** Access to the loaded and the stored threads. */
interface QueueThreads {
  /** Rejects with `thread_not_found`. */
  record(threadId: string, notFound: (threadId: string) => RpcError): Promise<ThreadRecord>;
  /** The loaded thread; null if it is not loaded. */
  find(threadId: string): QueuingThread | null;
  /** Changes a thread, unless it is loaded: resolves with null then. Nobody loads it meanwhile. */
  changeStored<Result>(
    threadId: string,
    change: (record: ThreadRecord) => StoredChange<Result>,
  ): Promise<Result | null>;
}

interface QueuingThread {
  part(kind: typeof SubmissionQueue): SubmissionQueue;
  readonly turns: { startWaiting(input: DueInput): Promise<Joined | null> };
}

interface QueueResources {
  threads: QueueThreads;
  store: Pick<ThreadStore, 'readQueued'>;
  clients: ClientChannel;
  ids: Ids;
}

/** A submission of a client, or its changes to an earlier one. */
type Content = Pick<QueuedSubmission, 'input' | 'responsesapiClientMetadata'>;

/** The queues of all threads, loaded or not. Methods reject with an RpcError or a StoreError. */
export class ThreadQueues {
  readonly #deps: QueueResources;

  constructor(deps: QueueResources) {
    this.#deps = deps;
  }

  /** The entry: an earlier one if that has the same `clientUserMessageId`. */
  async add(threadId: string, content: Omit<QueuedSubmission, 'id'>): Promise<QueuedSubmission> {
    checkInput(content.input, { required: true });
    const submission = { id: this.#deps.ids.next(), ...content };
    const id = await this.#change(threadId, (queue) => added(queue, submission));
    const [stored] =
      id === submission.id ? [submission] : await this.#deps.store.readQueued(threadId, [id]);
    return stored ?? { ...submission, id };
  }

  async update(threadId: string, id: string, content: Content): Promise<QueuedSubmission> {
    checkInput(content.input, { required: true });
    return this.#change(threadId, (queue) => updated(queue, { id, ...content }));
  }

  reorder(threadId: string, ids: readonly string[]): Promise<void> {
    return this.#change(threadId, (queue) => reordered(queue, ids));
  }

  /** Resolves with false if there is no such entry. */
  delete(threadId: string, id: string): Promise<boolean> {
    return this.#change(threadId, (queue) => removed(queue, id));
  }

  /** The ids of the entries in their order, and why they do not start turns by themselves. */
  async state(threadId: string): Promise<{ ids: string[]; heldBecause: ThreadQueueHold | null }> {
    const record = await this.#usable(threadId);
    const isLoaded = this.#deps.threads.find(threadId) !== null;
    return {
      ids: (record.queue ?? NO_QUEUE).waiting.map(({ id }) => id),
      heldBecause: record.queueHold ?? (isLoaded ? null : 'threadNotLoaded'),
    };
  }

  /** Starts a turn with this entry, or the first. Call `afterAnswer` after the answer. */
  async start(threadId: string, id: string | null): Promise<Joined> {
    await this.#usable(threadId);
    const thread = this.#deps.threads.find(threadId);
    if (thread === null) throw notLoadedToStart(threadId);
    const started = await thread.turns.startWaiting(thread.part(SubmissionQueue).entry(id));
    if (started === null) throw new Error('an entry of a queue was not taken');
    return started;
  }

  /** Makes a change in memory and in the store, or only there if the thread is not loaded. */
  async #change<Result>(
    threadId: string,
    make: (queue: QueueRecord) => QueueChange<Result>,
  ): Promise<Result> {
    const { threads, clients } = this.#deps;
    await this.#usable(threadId);
    const loaded = threads.find(threadId);
    if (loaded !== null) return loaded.part(SubmissionQueue).change(make);
    const stored = await threads.changeStored(threadId, ({ queue: before, queueHold }) => {
      const { queue, submission, result } = make(before ?? NO_QUEUE);
      const isChanged = queue !== (before ?? NO_QUEUE);
      const changes = { patch: { queue }, ...(submission && { queued: [submission] }) };
      return { changes: isChanged ? changes : null, result: { result, isChanged, queueHold } };
    });
    // It was loaded meanwhile.
    if (stored === null) return this.#change(threadId, make);
    const { result, isChanged, queueHold } = stored;
    if (isChanged)
      clients.publish({ threadId }, 'thread/queue/changed', {
        threadId,
        heldBecause: queueHold ?? 'threadNotLoaded',
      });
    return result;
  }

  async #usable(threadId: string): Promise<ThreadRecord> {
    const record = await this.#deps.threads.record(threadId, noRolloutFound);
    if (record.archivedAtMs !== null) throw threadArchived(threadId);
    return record;
  }
}
