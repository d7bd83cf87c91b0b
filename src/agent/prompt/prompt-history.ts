import type { ResponseItem } from '../../protocol/generated/types.ts';
import { ModelItems } from '../../store/model-items.ts';
import type { LogEntry, ModelSlice } from '../../store/thread-store.ts';
import type { Outbox } from '../outbox.ts';
import type { KeptPrompt, PromptBudget } from './prompt-budget.ts';
import { PromptItems } from './prompt-items.ts';

/** A prompt, and its approximate size. */
export interface Prompt {
  items: ResponseItem[];
  bytes: number;
  tokens: number;
  /** The tokens up to the last item that the model made. */
  tokensOfModel: number;
}

interface PromptHistoryDeps {
  /** Reads the entries after the cursor. */
  read(cursor: string | null): Promise<ModelSlice>;
  outbox: Outbox;
  budget: PromptBudget;
}

/**
 * The prompt of a thread. Its history is read from the store when it is first needed, in slices, and then kept up to date in memory,
 * as long as the budget of all threads allows.
 */
export class PromptHistory implements KeptPrompt {
  readonly #deps: PromptHistoryDeps;
  #kept: OrderedPrompt | null = null;
  /** Whether the history is known to be larger than any prompt can be. */
  #isTooLarge = false;
  /** How many times entries were stored. Shows whether some were stored during a read. */
  #appends = 0;
  /** How many times the history was cut. */
  #cuts = 0;

  constructor(deps: PromptHistoryDeps) {
    this.#deps = deps;
  }

  /** The approximate memory that the prompt takes. */
  get bytes(): number {
    return this.#kept?.items.bytes ?? 0;
  }

  /** Adds stored entries. */
  add(entries: readonly LogEntry[]): void {
    this.#appends++;
    if (this.#kept !== null) for (const entry of entries) this.#kept.order.add(entry);
  }

  /** The history was cut: the next prompt is read from the store again. */
  forget(): void {
    this.#cuts++;
    this.#isTooLarge = false;
    this.drop();
  }

  /** Frees the memory. The next prompt is read from the store again. */
  drop(): void {
    this.#kept = null;
    this.#deps.budget.remove(this);
  }

  /** The prompt of the whole history; null if it is larger than the budget allows. */
  async prompt(): Promise<Prompt | null> {
    const kept = this.#isTooLarge ? null : (this.#kept ?? (await this.#deps.budget.reading(() => this.#load())));
    if (kept === null || kept.items.bytes > this.#deps.budget.promptBytesMax) {
      this.drop();
      this.#isTooLarge = true;
      return null;
    }
    this.#deps.budget.used(this);
    return kept.listed();
  }

  /** Reads the history. Reads on if entries were stored meanwhile, because they may or may not be in the last slice. */
  async #load(): Promise<OrderedPrompt | null> {
    const { read, outbox, budget } = this.#deps;
    let loading = new OrderedPrompt();
    let cuts = this.#cuts;
    for (let cursor: string | null = null; ; ) {
      const appends = this.#appends;
      const slice: ModelSlice = await read(cursor);
      if (cuts !== this.#cuts) {
        [loading, cuts, cursor] = [new OrderedPrompt(), this.#cuts, null];
        continue;
      }
      cursor = slice.cursor;
      for (const entry of slice.entries) loading.order.add(entry);
      if (loading.items.bytes > budget.promptBytesMax) return null;
      if (slice.more) continue;
      const isWhole = await outbox.between(() => {
        const isCurrent = this.#appends === appends && this.#cuts === cuts;
        if (isCurrent) this.#kept = loading;
        return isCurrent;
      });
      if (isWhole) return loading;
    }
  }
}

/** The items of a prompt, as entries bring them. */
export class OrderedPrompt {
  readonly items = new PromptItems();
  readonly order = new ModelItems((item) => this.items.add(item));

  /** The prompt so far, with the deferred items at its end. */
  listed(): Prompt {
    const { deferred } = this.order;
    const all = deferred.length === 0 ? this.items : this.items.copy();
    for (const item of deferred) all.add(item);
    return { items: all.list(), bytes: all.bytes, tokens: all.tokens, tokensOfModel: all.tokensOfModel };
  }
}
