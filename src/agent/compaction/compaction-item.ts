import type { Announcement } from '../../protocol/announcement.ts';
import type { UntimedItem } from '../../protocol/generated/types.ts';
import { itemCompleted, itemStarted } from '../items/item-shown.ts';
import type { Step } from '../outbox/step.ts';
import type { TurnContext } from '../turn/turn-part.ts';
import type { TurnPartDeps } from '../turn/turn-part-deps.ts';

interface Begun {
  turn: TurnContext;
  item: UntimedItem;
  startedAtMs: number;
}

/** The item of a compaction, which clients see while it runs. */
export class CompactionItem {
  readonly turn: TurnContext;
  readonly #deps: TurnPartDeps;
  readonly #begun: Begun;

  private constructor(deps: TurnPartDeps, begun: Begun) {
    this.turn = begun.turn;
    this.#deps = deps;
    this.#begun = begun;
  }

  /** Shows clients that a compaction has begun. */
  static async begin(deps: TurnPartDeps, turn: TurnContext): Promise<CompactionItem> {
    const { threadId, clock, outbox } = deps;
    const item: UntimedItem = { type: 'contextCompaction', id: deps.ids.next() };
    const startedAtMs = clock.now();
    await outbox.commit({
      partial: { turnId: turn.id, item, startedAtMs, completedAtMs: null },
      announce: [itemStarted(threadId, { turnId: turn.id, item, startedAtMs })],
    });
    return new CompactionItem(deps, { turn, item, startedAtMs });
  }

  /** Removes the item of a compaction that has replaced nothing. */
  async drop(warning: string | null): Promise<void> {
    const { turn, item, startedAtMs } = this.#begun;
    const dropped = [{ turnId: turn.id, item, startedAtMs, completedAtMs: null }];
    await this.#deps.outbox.commit({ dropped, announce: warnings(this.#deps.threadId, warning) });
  }

  /** The step that completes it. */
  completion(): Step {
    const { turn, item, startedAtMs } = this.#begun;
    const { threadId, clock } = this.#deps;
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
