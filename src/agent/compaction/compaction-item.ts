import type { Announcement } from '../../protocol/announcement.ts';
import type { UntimedItem } from '../../protocol/generated/types.ts';
import { itemCompleted, itemStarted } from '../items/item-shown.ts';
import type { Step } from '../outbox/step.ts';
import type { ThreadContext } from '../thread-context.ts';
import type { TurnContext } from '../turn/turn-part.ts';

interface Begun {
  turn: TurnContext;
  item: UntimedItem;
  startedAtMs: number;
}

/** The item of a compaction, which clients see while it runs. */
export class CompactionItem {
  readonly turn: TurnContext;
  readonly #thread: ThreadContext;
  readonly #begun: Begun;

  private constructor(thread: ThreadContext, begun: Begun) {
    this.turn = begun.turn;
    this.#thread = thread;
    this.#begun = begun;
  }

  /** Shows clients that a compaction has begun. */
  static async begin(thread: ThreadContext, turn: TurnContext): Promise<CompactionItem> {
    const { id: threadId, outbox } = thread;
    const { clock } = thread.services.runtime;
    const item: UntimedItem = { type: 'contextCompaction', id: thread.services.runtime.ids.next() };
    const startedAtMs = clock.now();
    await outbox.commit({
      partial: { turnId: turn.id, item, startedAtMs, completedAtMs: null },
      announce: [itemStarted(threadId, { turnId: turn.id, item, startedAtMs })],
    });
    return new CompactionItem(thread, { turn, item, startedAtMs });
  }

  /** Removes the item of a compaction that has replaced nothing. */
  async drop(warning: string | null): Promise<void> {
    const { turn, item, startedAtMs } = this.#begun;
    const dropped = [{ turnId: turn.id, item, startedAtMs, completedAtMs: null }];
    await this.#thread.outbox.commit({ dropped, announce: warnings(this.#thread.id, warning) });
  }

  /** The step that completes it. */
  completion(): Step {
    const { turn, item, startedAtMs } = this.#begun;
    const { id: threadId } = this.#thread;
    const { clock } = this.#thread.services.runtime;
    const completed = { turnId: turn.id, item, startedAtMs, completedAtMs: clock.now() };
    return {
      entries: [{ kind: 'item', ...completed }],
      announce: [
        itemCompleted(threadId, completed),
        { method: 'thread/compacted', params: { threadId, turnId: turn.id } },
      ],
    };
  }
}

/** The announcement of a warning about a thread; none for null. */
export function warnings(threadId: string, message: string | null): Announcement[] {
  return message === null ? [] : [{ method: 'warning', params: { threadId, message } }];
}
