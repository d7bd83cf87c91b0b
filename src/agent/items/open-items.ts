import type { Clock, Timer } from '../../base/clock.ts';
import type { Announcement } from '../../protocol/announcement.ts';
import type { ThreadItem, UntimedItem } from '../../protocol/generated/types.ts';
import type { StoredItem } from '../../store/log-entry.ts';
import { timedItem } from '../../store/timed-item.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { StepSequence } from '../outbox/step.ts';
import { itemCompleted, itemStarted } from './item-shown.ts';
import { saveWaitMs } from './save-wait-ms.ts';
import type { CompletingStep, ShownPart, StreamedItem } from './streamed-item.ts';

/** A turn, and where the steps of its items go. */
export interface TurnSteps {
  threadId: string;
  turnId: string;
  clock: Clock;
  outbox: Outbox;
  /** The steps of the turn. */
  sequence: StepSequence;
}

/**
 * The items of a response that have begun, and what is stored and announced of them. An item is
 * stored before it is announced, and a growing one is saved at intervals. If the store fails, the
 * sequence has failed.
 */
export class OpenItems {
  readonly #turn: TurnSteps;
  /** By the model's item id. */
  readonly #open = new Map<string, StreamedItem>();
  /** The plan that has begun in a message; null: there is none. */
  plan: StreamedItem | null = null;
  #hasEnded = false;
  /** The items that the model has completed and the store has not stored so far. */
  readonly #completing = new Set<StreamedItem>();
  /** Of the items that are to be saved. */
  readonly #timers = new Map<StreamedItem, Timer>();

  constructor(turn: TurnSteps) {
    this.#turn = turn;
  }

  get(sourceId: string): StreamedItem | undefined {
    return this.#open.get(sourceId);
  }

  /** Adds an item. Clients see it once it is announced. */
  add(sourceId: string, open: StreamedItem): void {
    this.#open.set(sourceId, open);
  }

  /** Takes out an item that the model has completed. */
  remove(sourceId: string): void {
    this.#open.delete(sourceId);
  }

  /** The message that clients have seen in part; null: there is none. */
  shownPart(): ShownPart | null {
    for (const { item, startedAtMs, announced, splitter, repeats } of this.#open.values()) {
      if (item.type !== 'agentMessage' || splitter !== null) continue;
      if (announced) return { id: item.id, startedAtMs, text: item.text };
      if (repeats !== null) return repeats;
    }
    return null;
  }

  /** The items that are announced and not stored as completed, with their content so far. */
  unstored(): StoredItem[] {
    return [...this.#completing, ...this.#announced()].map((open) => this.#stored(open));
  }

  /** Forgets the announced items that the model has not completed, and returns them. */
  drop(): StoredItem[] {
    const open = this.#announced().map((item) => this.#stored(item));
    this.end();
    this.#open.clear();
    this.plan = null;
    return open;
  }

  /** Ends all saves. Items that the model has not completed stay as they are stored. */
  end(): void {
    this.#hasEnded = true;
    for (const { item } of this.#announced()) this.#turn.outbox.unfinished.end(item.id);
    for (const timer of this.#timers.values()) timer.clear();
    this.#timers.clear();
  }

  /** Stores and announces that an item has begun, if it is not announced. */
  announce(open: StreamedItem): void {
    if (open.announced) return;
    open.announced = true;
    const { threadId, turnId, outbox, sequence } = this.#turn;
    const item = copyOf(open.item);
    const stored = { turnId, item, startedAtMs: open.startedAtMs, completedAtMs: null };
    const begun = outbox.commit(
      { partial: stored, announce: [itemStarted(threadId, stored)] },
      sequence,
    );
    const shown = () => {
      if (this.#isUnfinished(open)) outbox.unfinished.begin(item.id, () => this.#stored(open));
    };
    begun.then(shown, () => {});
  }

  /** Goes on with a message that an earlier attempt has shown in part. */
  resume(open: StreamedItem, shown: ShownPart): void {
    open.item.id = shown.id;
    open.startedAtMs = shown.startedAtMs;
    open.announced = true;
    this.#turn.outbox.unfinished.begin(shown.id, () => this.#stored(open));
  }

  /** Adds text to the item of `open`. */
  grow(
    open: StreamedItem,
    item: { id: string; text: string },
    method: 'item/agentMessage/delta' | 'item/plan/delta',
    delta: string,
  ): void {
    const { threadId, turnId } = this.#turn;
    item.text += delta;
    this.announceDelta(open, { method, params: { threadId, turnId, itemId: item.id, delta } });
  }

  /** Announces what an item has grown by, and saves it soon. */
  announceDelta(open: StreamedItem, delta: Announcement): void {
    this.#turn.outbox.announceDelta(delta, this.#turn.sequence);
    this.#saveSoon(open);
  }

  /** Adds the end of an item to the step. Returns the item as clients see it. */
  complete(
    open: StreamedItem,
    item: UntimedItem,
    { entries, announce, items }: CompletingStep,
  ): ThreadItem {
    const { threadId, turnId, clock } = this.#turn;
    open.item = item;
    open.unsaved = false;
    const completed = { turnId, item, startedAtMs: open.startedAtMs, completedAtMs: clock.now() };
    entries.push({ kind: 'item', ...completed });
    announce.push(itemCompleted(threadId, completed));
    this.#completing.add(open);
    items.push(open);
    return timedItem(completed);
  }

  /** Stores and announces what the model has completed. */
  commit({ items, ...step }: CompletingStep): void {
    const stored = () => {
      for (const open of items) {
        this.#completing.delete(open);
        this.#turn.outbox.unfinished.end(open.item.id);
      }
    };
    this.#turn.outbox.commit(step, this.#turn.sequence).then(stored, () => {});
  }

  #isUnfinished(open: StreamedItem): boolean {
    return this.#completing.has(open) || (!this.#hasEnded && this.#announced().includes(open));
  }

  #announced(): StreamedItem[] {
    return [...this.#open.values(), ...(this.plan === null ? [] : [this.plan])].filter(
      ({ announced }) => announced,
    );
  }

  #stored({ item, startedAtMs }: Pick<StreamedItem, 'item' | 'startedAtMs'>): StoredItem {
    return { turnId: this.#turn.turnId, item, startedAtMs, completedAtMs: null };
  }

  #saveSoon(open: StreamedItem): void {
    open.unsaved = true;
    if (this.#timers.has(open)) return;
    const save = () => {
      this.#timers.delete(open);
      this.#save(open);
    };
    this.#timers.set(open, this.#turn.clock.setTimer(save, saveWaitMs(open.item)));
  }

  #save(open: StreamedItem): void {
    if (!open.unsaved || !this.#announced().includes(open)) return;
    open.unsaved = false;
    this.#turn.outbox.savePartial(this.#stored({ ...open, item: copyOf(open.item) }));
  }
}

/** The item as it is now. The parts of a reasoning item grow in place. */
function copyOf(item: UntimedItem): UntimedItem {
  return item.type === 'reasoning' ? structuredClone(item) : { ...item };
}
