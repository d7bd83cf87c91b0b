import type { ResponseItem } from '../../protocol/generated/types.ts';
import { ModelItems, type ReadItem } from '../../store/model-items.ts';
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

/** The items of a prompt as they are stored, at one moment. */
export interface PromptState {
  prompt: Prompt;
  /** What the model reads, without items that are still deferred. */
  read: readonly ReadItem[];
  /** How many of them were put in the place of an earlier part of the history. */
  replaced: number;
  /**
   * The items that were added to the history since, with the deferred ones; null if it was cut or read again since. Call it between two
   * steps of the outbox.
   */
  addedSince(): ResponseItem[] | null;
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
    return (await this.#whole())?.listed() ?? null;
  }

  /** The prompt with its items as they are stored; null if it is larger than the budget allows. */
  async state(): Promise<PromptState | null> {
    const kept = await this.#whole();
    if (kept === null) return null;
    const { restarts } = kept;
    const read = kept.read.slice();
    const isSame = () => this.#kept === kept && kept.restarts === restarts;
    return {
      prompt: kept.listed(),
      read,
      replaced: kept.replaced,
      addedSince: () => (isSame() ? [...kept.read.slice(read.length).map(({ item }) => item), ...kept.order.deferred] : null),
    };
  }

  async #whole(): Promise<OrderedPrompt | null> {
    const kept = this.#isTooLarge ? null : (this.#kept ?? (await this.#deps.budget.reading(() => this.#load())));
    if (kept === null || kept.items.bytes > this.#deps.budget.promptBytesMax) {
      this.drop();
      this.#isTooLarge = true;
      return null;
    }
    this.#deps.budget.used(this);
    return kept;
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
class OrderedPrompt {
  /** The items as they are stored. */
  read: ReadItem[] = [];
  /** How many of them stand for an earlier part of the history. */
  replaced = 0;
  /** How many times the items were replaced. */
  restarts = 0;
  items = new PromptItems();
  readonly order = new ModelItems({
    take: (read) => {
      this.read.push(read);
      this.items.add(read.item);
    },
    restart: (items) => this.#restart(items),
  });

  /** The prompt so far, with the deferred items at its end. */
  listed(): Prompt {
    const { deferred } = this.order;
    const all = deferred.length === 0 ? this.items : this.items.copy();
    for (const item of deferred) all.add(item);
    return { items: all.list(), bytes: all.bytes, tokens: all.tokens, tokensOfModel: all.tokensOfModel };
  }

  #restart(items: readonly ResponseItem[]): void {
    this.restarts++;
    this.read = items.map((item) => ({ item, turnId: null }));
    this.replaced = items.length;
    this.items = new PromptItems();
    this.items.begin(items);
  }
}
