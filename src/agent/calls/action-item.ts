import { settleItem } from '../../store/settle-item.ts';
import type { Action, ActionOutcome, OpenItem } from '../../tools/action.ts';
import type { ThreadItems } from '../items/thread-items.ts';
import type { CallOutput } from './performed-call.ts';

/** The item that shows an action to clients, if any. It begins once, and completes once. */
export class ActionItem {
  readonly #action: Action;
  readonly #turnId: string;
  readonly #items: ThreadItems;
  #begun: Promise<OpenItem | null> | null = null;
  /** The item has completed, or the action completes it later by itself. */
  #isFinished = false;

  constructor(action: Action, turnId: string, items: ThreadItems) {
    this.#action = action;
    this.#turnId = turnId;
    this.#items = items;
  }

  /** Whether it was begun. */
  get isShown(): boolean {
    return this.#begun !== null;
  }

  /** Begins the item, once. Null: the action has none. */
  show(): Promise<OpenItem | null> {
    const { item } = this.#action;
    this.#begun ??= item === null ? Promise.resolve(null) : this.#items.begin(this.#turnId, item);
    return this.#begun;
  }

  /** Completes the item that has begun, and stores the call's output with it. */
  async complete(
    outcome: ActionOutcome,
    open: OpenItem,
    output: CallOutput | undefined,
  ): Promise<void> {
    const item = outcome.item ?? this.#action.item;
    this.#isFinished = true;
    if (item !== null && item !== 'runsOn')
      await open.complete(item, () => output?.entries(outcome) ?? []);
  }

  /** Completes the item as failed, if it has begun and not completed. */
  async fail(): Promise<void> {
    const open = (await this.#begun?.catch(() => null)) ?? null;
    if (open !== null && !this.#isFinished) await open.complete(settleItem(open.item));
  }
}
