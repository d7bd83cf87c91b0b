import type { Clock, Timer } from '../../base/clock.ts';
import type { Announcement } from '../../protocol/announcement.ts';
import type { ItemApprovalReview, UntimedItem } from '../../protocol/generated/types.ts';
import type { StoredItem } from '../../store/log-entry.ts';
import { settledReviews } from '../../store/settle-item.ts';
import type { OpenItem } from '../../tools/action.ts';
import type { Outbox } from '../outbox/outbox.ts';
import { itemCompleted, itemStarted } from './item-shown.ts';
import { saveWaitMs } from './save-wait-ms.ts';

interface ThreadItemsDeps {
  threadId: string;
  clock: Clock;
  outbox: Outbox;
  /** Announces at once, before steps that wait in the outbox. */
  announce(announcement: Announcement): void;
  /**
   * Returns null if the thread's clients keep up with their messages, else a promise that resolves
   * when they have caught up.
   */
  drained(): Promise<void> | null;
}

/**
 * The most reviews that are kept with an item. A command in a terminal can have one for each input.
 */
const REVIEWS_MAX = 50;

/** An item that has begun and not completed. */
interface BegunItem {
  turnId: string;
  startedAtMs: number;
  /** The item as it is now, or a function that returns it. */
  current: UntimedItem | (() => UntimedItem);
  reviews: readonly ItemApprovalReview[];
  /** The saves of reviews that wait. They never reject. */
  saving: Promise<unknown>;
  /** Whether the end of its turn is stored or about to be. */
  runsOn: boolean;
}

/** Stores and announces the items of a thread's actions. */
export class ThreadItems {
  readonly #deps: ThreadItemsDeps;
  readonly #begun = new Set<BegunItem>();

  constructor(deps: ThreadItemsDeps) {
    this.#deps = deps;
  }

  /** Stores and announces that the item has begun. Rejects with the store's error. */
  async begin(turnId: string, item: UntimedItem): Promise<OpenItem> {
    const { threadId, clock, outbox } = this.#deps;
    const startedMs = clock.monotonic();
    const begun: BegunItem = {
      turnId,
      startedAtMs: clock.now(),
      current: item,
      reviews: [],
      saving: Promise.resolve(),
      runsOn: false,
    };
    await outbox.commit({
      partial: stored(begun),
      announce: [itemStarted(threadId, { turnId, item, startedAtMs: begun.startedAtMs })],
    });
    this.#begun.add(begun);
    outbox.unfinished.begin(item.id, () => stored(begun));
    return this.#handle(begun, startedMs);
  }

  /**
   * Returns the unfinished items of a turn that ends. From now on they complete as late items,
   * after its end.
   */
  runOn(turnId: string): StoredItem[] {
    const running = [...this.#begun].filter((begun) => begun.turnId === turnId);
    for (const begun of running) begun.runsOn = true;
    return running.map(stored);
  }

  #handle(begun: BegunItem, startedMs: number): OpenItem {
    const { threadId, clock, outbox, announce, drained } = this.#deps;
    const { turnId, startedAtMs } = begun;
    let timer: Timer | null = null;
    const save = () => {
      timer = null;
      outbox.savePartial(stored(begun));
    };
    return {
      startedMs,
      get item() {
        return currentItem(begun);
      },
      update(item, announcement) {
        begun.current = item;
        timer ??= clock.setTimer(save, saveWaitMs(currentItem(begun)));
        if (announcement !== undefined) announce(announcement);
      },
      review: async (review, announced) => {
        // The command that input was reviewed for may have ended meanwhile. The review is then
        // stored as aborted.
        if (!this.#begun.has(begun)) return outbox.announce(announced);
        const before = begun.reviews.find(({ reviewId }) => reviewId === review.reviewId);
        begun.reviews = withReview(begun.reviews, review);
        const saved = outbox.commit({ partial: stored(begun), announce: [...announced] });
        begun.saving = Promise.allSettled([begun.saving, saved]);
        try {
          await saved;
        } catch (error) {
          begun.reviews =
            before === undefined
              ? begun.reviews.filter((each) => each !== review)
              : withReview(begun.reviews, before);
          throw error;
        }
      },
      drained,
      complete: async (ended, others = () => []) => {
        // A review that could not be saved is not in the item.
        if (begun.reviews.length > 0) await begun.saving;
        timer?.clear();
        this.#begun.delete(begun);
        const completedAtMs = clock.now();
        const item = withReviews(ended, settledReviews(begun.reviews, completedAtMs));
        const kind = begun.runsOn ? ('lateItem' as const) : ('item' as const);
        await outbox.commitOrOwe({
          entries: [{ kind, turnId, item, startedAtMs, completedAtMs }, ...others()],
          announce: [itemCompleted(threadId, { turnId, item, startedAtMs, completedAtMs })],
        });
        outbox.unfinished.end(item.id);
      },
    };
  }
}

function stored(begun: BegunItem): StoredItem {
  const { turnId, startedAtMs } = begun;
  return { turnId, item: currentItem(begun), startedAtMs, completedAtMs: null };
}

function currentItem({ current, reviews }: BegunItem): UntimedItem {
  return withReviews(typeof current === 'function' ? current() : current, reviews);
}

function withReviews(item: UntimedItem, reviews: readonly ItemApprovalReview[]): UntimedItem {
  const canHave =
    item.type === 'commandExecution' || item.type === 'fileChange' || item.type === 'mcpToolCall';
  return canHave && reviews.length > 0 ? { ...item, approvalReviews: [...reviews] } : item;
}

/**
 * Adds a review, or replaces the one with its id. The oldest are left out if there are too many.
 */
function withReview(
  reviews: readonly ItemApprovalReview[],
  review: ItemApprovalReview,
): ItemApprovalReview[] {
  return [...reviews.filter(({ reviewId }) => reviewId !== review.reviewId), review].slice(
    -REVIEWS_MAX,
  );
}
