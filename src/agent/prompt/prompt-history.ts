import type { LogEntry, ModelSlice } from '../../store/log-entry.ts';
import type { AuthoredItem, ReadItem } from '../../store/model-items.ts';
import type { Outbox } from '../outbox/outbox.ts';
import { OrderedPrompt, type Prompt } from './ordered-prompt.ts';
import type { KeptPrompt, PromptBudget } from './prompt-budget.ts';

/** The items of a prompt as they are stored, at one moment. */
export interface PromptState {
  prompt: Prompt;
  /** The items of the prompt, without those that are still deferred. */
  read: readonly ReadItem[];
  /** How many of them were put in the place of an earlier part of the history. */
  replaced: number;
  /** The items that are still deferred. */
  deferred: readonly AuthoredItem[];
  /** Whether older items are missing, because the history was too large. */
  isCut: boolean;
  /**
   * The items that were added to the history since, with the deferred ones; null if it was cut or
   * read again since. Call it between two steps of the outbox.
   */
  addedSince(): AuthoredItem[] | null;
}

/** A history that is too large is shrunk to this part of the largest prompt. */
const SHRUNK_SHARE = 0.25;

interface PromptHistoryDeps {
  /** Reads the entries after the cursor. */
  read(cursor: string | null): Promise<ModelSlice>;
  outbox: Outbox;
  budget: PromptBudget;
}

/**
 * The prompt of a thread. Its history is read from the store when it is first needed, in slices,
 * and then kept up to date in memory, as long as the budget of all threads allows.
 */
export class PromptHistory implements KeptPrompt {
  readonly #deps: PromptHistoryDeps;
  #kept: OrderedPrompt | null = null;
  /**
   * Whether the history is known to be larger than any prompt can be. It is then read without
   * images and huge outputs.
   */
  #isTooLarge = false;
  /** The read of the whole history that is in progress. */
  #loading: Promise<OrderedPrompt | null> | null = null;
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

  /** The prompt, if it is in memory. */
  get kept(): Prompt | null {
    return this.#kept?.listed() ?? null;
  }

  /** Adds stored entries. */
  add(entries: readonly LogEntry[]): void {
    this.#appends++;
    if (entries.some(({ kind }) => kind === 'compacted')) this.#isTooLarge = false;
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

  /**
   * The prompt of the history. If that is larger than the budget allows, it is without images and
   * huge outputs, except in the last turn's input, and if need be without its oldest items. Null if
   * that input alone is too large.
   */
  async prompt(): Promise<Prompt | null> {
    return (await this.#read())?.listed() ?? null;
  }

  /** The prompt with its items as they are stored; null as for `prompt`. */
  async state(): Promise<PromptState | null> {
    const kept = await this.#read();
    if (kept === null) return null;
    const { restarts } = kept;
    const read = kept.read.slice();
    const isSame = () => this.#kept === kept && kept.restarts === restarts;
    return {
      prompt: kept.listed(),
      read,
      deferred: kept.order.deferred,
      replaced: kept.replaced,
      isCut: kept.isCut,
      addedSince: () =>
        isSame() ? [...kept.read.slice(read.length), ...kept.order.deferred] : null,
    };
  }

  /** The items as they are stored, with the deferred ones; null as for `prompt`. */
  async items(): Promise<AuthoredItem[] | null> {
    const kept = await this.#read();
    return kept && [...kept.read, ...kept.order.deferred];
  }

  async #read(): Promise<OrderedPrompt | null> {
    const { budget } = this.#deps;
    const fits = (prompt: OrderedPrompt | null) =>
      prompt !== null && prompt.items.bytes <= budget.promptBytesMax;
    if (!fits(this.#kept)) this.drop();
    let kept = this.#kept ?? (this.#isTooLarge ? null : await this.#loaded());
    if (kept === null) {
      this.#isTooLarge = true;
      kept = await budget.reading(() =>
        this.#load(Math.floor(budget.promptBytesMax * SHRUNK_SHARE)),
      );
    }
    if (kept === null) return null;
    budget.used(this);
    return kept;
  }

  /** Reads the whole history, once for all who need it now. */
  #loaded(): Promise<OrderedPrompt | null> {
    this.#loading ??= this.#deps.budget
      .reading(() => this.#load(null))
      .finally(() => {
        this.#loading = null;
      });
    return this.#loading;
  }

  /**
   * Reads the history. Reads on if entries were stored meanwhile, because they may or may not be in
   * the last slice. Null if it is larger than the budget allows, even shrunk to so many bytes.
   */
  async #load(shrunkBytes: number | null): Promise<OrderedPrompt | null> {
    const { read, outbox, budget } = this.#deps;
    let loading = new OrderedPrompt(shrunkBytes);
    let cuts = this.#cuts;
    for (let cursor: string | null = null; ; ) {
      const appends = this.#appends;
      const slice: ModelSlice = await read(cursor);
      if (cuts !== this.#cuts) {
        [loading, cuts, cursor] = [new OrderedPrompt(shrunkBytes), this.#cuts, null];
        continue;
      }
      cursor = slice.cursor;
      for (const entry of slice.entries) loading.order.add(entry);
      // A shrunk prompt can be too large as long as a large input is the last.
      const isTooLarge = loading.items.bytes > budget.promptBytesMax;
      if (isTooLarge && (shrunkBytes === null || !slice.more)) return null;
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
