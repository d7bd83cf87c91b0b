import type { ResponseItem } from '../../protocol/generated/types.ts';
import { ModelItems } from '../../store/model-items.ts';
import type { LogEntry } from '../../store/thread-store.ts';
import type { Outbox } from '../outbox.ts';

/** The items that a thread's model reads. They are read from the store when first needed, and then kept up to date in memory. */
export class PromptHistory {
  readonly #read: () => Promise<ResponseItem[]>;
  readonly #outbox: Outbox;
  #items: ModelItems | null = null;
  /** How many times entries were stored. Shows whether some were stored during a read. */
  #appends = 0;

  constructor(read: () => Promise<ResponseItem[]>, outbox: Outbox) {
    this.#read = read;
    this.#outbox = outbox;
  }

  /** Adds stored entries. */
  add(entries: readonly LogEntry[]): void {
    this.#appends++;
    for (const entry of entries) this.#items?.add(entry);
  }

  /** Makes the next `list` read from the store again. */
  forget(): void {
    this.#items = null;
  }

  async list(): Promise<ResponseItem[]> {
    return (this.#items ?? (await this.#load())).list();
  }

  /** Reads the items. Reads again if entries were stored meanwhile, because they may or may not be in the result. */
  async #load(): Promise<ModelItems> {
    for (;;) {
      const before = this.#appends;
      const items = new ModelItems(await this.#read());
      const isCurrent = await this.#outbox.between(() => {
        if (this.#appends === before) this.#items = items;
        return this.#items === items;
      });
      if (isCurrent) return items;
    }
  }
}
