import { SerialQueue } from '../../base/keyed-queue.ts';
import type { Announcement } from '../../protocol/announcement.ts';
import { queueEmpty } from '../../protocol/errors/queue-errors.ts';
import type { QueueHold, QueueRecord, WaitingSubmission } from '../../store/queue-record.ts';
import { isDecided } from '../../tools/denial.ts';
import type { StepAddition } from '../outbox/step.ts';
import type { ThreadContext } from '../thread-context.ts';
import type { DueInput, TakenInput } from '../turn/due-input.ts';
import type { TurnContext, TurnOutcome, TurnPart } from '../turn/turn-part.ts';
import { begun, entryOf, NO_QUEUE, type QueueChange, removed } from './queue-change.ts';

/**
 * The queue of a loaded thread: begins a turn with each submission, one after another. The entries
 * change in memory once the change is stored, and one change at a time. An entry leaves the queue
 * with the write that stores the start of its turn. In the list of parts it stands before the goal,
 * because the user has said what waits here.
 */
export class SubmissionQueue implements TurnPart {
  readonly #thread: ThreadContext;
  readonly #changes = new SerialQueue();

  constructor(thread: ThreadContext) {
    this.#thread = thread;
  }

  /** Makes, stores and announces a change, after those before it. Rejects as `make` throws. */
  change<Result>(make: (queue: QueueRecord) => QueueChange<Result>): Promise<Result> {
    return this.#changes.run(async () => {
      const { queue, submission, result } = make(this.#queue);
      if (queue !== this.#queue) {
        await this.#thread.outbox.commit({
          patch: { queue },
          ...(submission && { queued: submission }),
          announce: [this.#announcement()],
        });
        this.#thread.state.keep({ queue });
      }
      return result;
    });
  }

  /**
   * An entry for a turn that a client wants now, whether or not the queue is held: the one with
   * this id, or the first. `take` rejects with `submission_not_found`.
   */
  entry(id: string | null): DueInput {
    const find = (queue: QueueRecord) => {
      if (id !== null) return entryOf(queue, id);
      const [first] = queue.waiting;
      if (first === undefined) throw queueEmpty();
      return first;
    };
    return { take: (begin) => this.#take(find, begin) };
  }

  due(): DueInput | null {
    const next = () => (this.#hold === null ? (this.#queue.waiting[0] ?? null) : null);
    return next() === null ? null : { take: (begin) => this.#take(next, begin) };
  }

  turnEnded(_turn: TurnContext, { status, cause }: TurnOutcome): StepAddition {
    let hold = this.#hold;
    if (status === 'interrupted' && isDecided(cause)) hold = 'turnInterrupted';
    else if (status === 'completed') hold = null;
    if (hold === this.#hold) return {};
    const patch = { queueHold: hold };
    this.#thread.state.keep(patch);
    return { patch, announce: this.#queue.waiting.length > 0 ? [this.#announcement()] : [] };
  }

  get #queue(): QueueRecord {
    return this.#thread.state.record.queue ?? NO_QUEUE;
  }

  get #hold(): QueueHold | null {
    return this.#thread.state.record.queueHold;
  }

  #announcement(heldBecause = this.#hold): Announcement {
    return {
      method: 'thread/queue/changed',
      params: { threadId: this.#thread.id, heldBecause },
    };
  }

  /** No change is made between the read of the entry and the start of its turn. */
  #take<T>(
    find: (queue: QueueRecord) => WaitingSubmission | null,
    begin: (taken: TakenInput) => Promise<T>,
  ): Promise<T | null> {
    const { id: threadId, outbox, services, state } = this.#thread;
    return this.#changes.run(async () => {
      for (let entry = find(this.#queue); entry !== null; entry = find(this.#queue)) {
        const [submission] = await services.store.readQueued(threadId, [entry.id]);
        if (submission !== undefined) {
          const { input, clientUserMessageId, responsesapiClientMetadata } = submission;
          return begin({
            params: { threadId, input, clientUserMessageId, responsesapiClientMetadata },
            step: {
              patch: { queue: begun(this.#queue, entry), queueHold: null },
              announce: [this.#announcement(null)],
            },
          });
        }
        // A repair of the database could not save it.
        const { queue } = removed(this.#queue, entry.id);
        const message = `An entry of the thread's queue is lost, because the database was damaged: ${entry.id}`;
        await outbox.commit({
          patch: { queue },
          announce: [this.#announcement(), { method: 'warning', params: { threadId, message } }],
        });
        state.keep({ queue });
      }
      return null;
    });
  }
}
