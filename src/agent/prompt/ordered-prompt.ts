import type { ResponseItem } from '../../protocol/generated/types.ts';
import {
  type AuthoredItem,
  lastOutputOf,
  ModelItems,
  outputCallId,
  type ReadItem,
} from '../../store/model-items.ts';
import { itemSize } from './item-size.ts';
import { PromptItems } from './prompt-items.ts';
import { withoutBulk } from './without-bulk.ts';

/** A prompt, and its approximate size. */
export interface Prompt {
  items: ResponseItem[];
  bytes: number;
  tokens: number;
  /** The tokens up to the last item that the model made. */
  tokensOfModel: number;
  /**
   * The tokens before the first item that the model made, such as those of the context and of a
   * summary.
   */
  tokensOfPrefix: number;
  /** Whether the history was too large, and is here without its images and huge outputs. */
  isShrunk: boolean;
  /** Whether an earlier part of the history is not here: it was compacted, or was too large. */
  isPart: boolean;
}

/**
 * An item that is shrunk takes at most about this part, so that one huge item does not displace all
 * others.
 */
const ITEM_SHARE = 0.25;

/** The items of a prompt, as entries bring them. */
export class OrderedPrompt {
  /** The items as they are stored. */
  read: ReadItem[] = [];
  /** How many of them stand for an earlier part of the history. */
  replaced = 0;
  /** How many times the items were replaced. */
  restarts = 0;
  /** Whether older items are missing, because they were too large. */
  isCut = false;
  items = new PromptItems();
  readonly order = new ModelItems({
    take: (read) => this.#take(read),
    restart: (items) => this.#restart(items),
  });
  readonly #shrunkBytes: number | null;
  #shrinkAt: number;

  /**
   * With `shrunkBytes`, the items are shrunk to about so many bytes whenever they take twice as
   * many. Null: they stay as they are.
   */
  constructor(shrunkBytes: number | null) {
    this.#shrunkBytes = shrunkBytes;
    this.#shrinkAt = shrunkBytes === null ? Number.POSITIVE_INFINITY : 2 * shrunkBytes;
  }

  /** The prompt so far, with the deferred items at its end. */
  listed(): Prompt {
    const { deferred } = this.order;
    const all = deferred.length === 0 ? this.items : this.items.copy();
    for (const { item, replaces } of deferred) {
      if (replaces) all.replace(item);
      else all.add(item);
    }
    const isShrunk = this.#shrunkBytes !== null;
    const isPart = this.isCut || this.replaced > 0;
    const { bytes, tokens, tokensOfModel, tokensOfPrefix } = all;
    return { items: all.list(), bytes, tokens, tokensOfModel, tokensOfPrefix, isShrunk, isPart };
  }

  #take({ replaces, ...read }: ReadItem): void {
    if (replaces && this.#putInPlace(read)) return;
    const isNewTurn = read.turnId !== this.read.at(-1)?.turnId;
    this.read.push(read);
    this.items.add(read.item);
    if (this.#shrunkBytes === null) return;
    if (isNewTurn) this.#shrinkAt = 2 * this.#shrunkBytes;
    if (this.items.bytes > this.#shrinkAt) this.shrink(this.#shrunkBytes);
  }

  /** Puts an output in the place of the last one of its call. False: there is none. */
  #putInPlace(read: ReadItem): boolean {
    const at = lastOutputOf(outputCallId(read.item), this.read);
    if (at === -1) return false;
    this.read[at] = read;
    this.items.replace(read.item);
    return true;
  }

  #restart(items: readonly AuthoredItem[]): void {
    this.restarts++;
    this.isCut = false;
    this.read = items.map((each) => ({ ...each, turnId: null }));
    this.replaced = items.length;
    this.items = new PromptItems();
    this.items.begin(items.map(({ item }) => item));
  }

  /**
   * Takes images and huge outputs away, and the oldest items if the rest has more than about
   * `bytesMax`. The input of the last turn stays as it is.
   */
  shrink(bytesMax: number): void {
    const lastTurnId = this.read.at(-1)?.turnId ?? null;
    const shrunk: ReadItem[] = [];
    let bytes = 0;
    for (const { item, author, turnId } of this.read.toReversed()) {
      const isInput =
        turnId !== null &&
        turnId === lastTurnId &&
        item.type === 'message' &&
        item.role !== 'assistant';
      const kept = isInput ? item : withoutBulk(item, bytesMax * ITEM_SHARE);
      if (kept !== null && !isInput) bytes += itemSize(kept).bytes;
      this.isCut ||= bytes > bytesMax;
      if (kept !== null && (isInput || bytes <= bytesMax))
        shrunk.push({ item: kept, author, turnId });
    }
    this.restarts++;
    this.read = shrunk.reverse();
    this.replaced = 0;
    this.items = new PromptItems();
    for (const { item } of this.read) this.items.add(item);
    this.#shrinkAt = Math.max(this.#shrinkAt, 2 * this.items.bytes);
  }
}
