import type { ResponseItem } from '../../protocol/generated/types.ts';
import { ModelItems } from '../../store/model-items.ts';
import type { LogEntry } from '../../store/thread-store.ts';
import type { Outbox } from '../outbox.ts';

/** What a thread's model reads: taken from the record when a turn first needs it, and then kept up with what is stored. */
export class PromptHistory {
  readonly #read: () => Promise<ResponseItem[]>;
  readonly #outbox: Outbox;
  #items: ModelItems | null = null;
  /** How often something was stored: tells whether what was read is still the whole. */
  #appends = 0;

  constructor(read: () => Promise<ResponseItem[]>, outbox: Outbox) {
    this.#read = read;
    this.#outbox = outbox;
  }

  /** Takes what has been stored. */
  add(entries: readonly LogEntry[]): void {
    this.#appends++;
    for (const entry of entries) this.#items?.add(entry);
  }

  /** The record has become another one. */
  forget(): void {
    this.#items = null;
  }

  async list(): Promise<ResponseItem[]> {
    return (this.#items ?? (await this.#load())).list();
  }

  /** Reads again where something was stored meanwhile: it may be in what was read, or not. */
  async #load(): Promise<ModelItems> {
    for (;;) {
      const before = this.#appends;
      const items = new ModelItems(await this.#read());
      const isWhole = await this.#outbox.between(() => {
        if (this.#appends === before) this.#items = items;
        return this.#items === items;
      });
      if (isWhole) return items;
    }
  }
}
