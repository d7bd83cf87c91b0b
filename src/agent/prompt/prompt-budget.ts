import { getHeapStatistics } from 'node:v8';
import { ByteBudget } from '../../base/byte-budget.ts';
import { orAborted } from '../../base/or-aborted.ts';

/** The most that the prompts of all threads take in memory, unless the heap is small. */
const PROMPTS_BYTES_MAX = 256 * 1024 * 1024;
/** The most that prompts take of the heap. */
const HEAP_SHARE = 1 / 4;
/** The largest prompt, as a part of what all may take. */
const PROMPT_SHARE = 1 / 4;
/** A request has its prompt and its body. */
const REQUEST_COPIES = 2;
/** How many histories are read at once. The others wait. */
const READS_MAX = 4;

/** A prompt in memory. */
export interface KeptPrompt {
  readonly bytes: number;
  /** Frees the memory. */
  drop(): void;
}

/** Limits the memory of the prompts of all loaded threads. */
export class PromptBudget {
  /** Least recently used first, with the bytes that were last counted. */
  readonly #kept = new Map<KeptPrompt, number>();
  /** How many requests use a prompt. */
  readonly #inUse = new Map<KeptPrompt, number>();
  readonly #reads = new ByteBudget(READS_MAX);
  #bytes = 0;
  #requests: ByteBudget | null = null;
  #bytesMaxKnown: number | null;

  constructor(bytesMax: number | null = null) {
    this.#bytesMaxKnown = bytesMax;
  }

  /** The largest prompt that is sent, in bytes. Models' context windows are mostly smaller. */
  get promptBytesMax(): number {
    return Math.floor(this.#bytesMax * PROMPT_SHARE);
  }

  /** Asked at the first use: Node takes milliseconds to load what knows the heap. */
  get #bytesMax(): number {
    this.#bytesMaxKnown ??= Math.min(
      PROMPTS_BYTES_MAX,
      Math.floor(getHeapStatistics().heap_size_limit * HEAP_SHARE),
    );
    return this.#bytesMaxKnown;
  }

  /** Reads a history, when not too many others are being read. */
  async reading<T>(read: () => Promise<T>): Promise<T> {
    const release = await this.#reads.take(1);
    try {
      return await read();
    } finally {
      release();
    }
  }

  /**
   * Counts a prompt, and drops those that were not used for the longest time, as many as are too
   * many.
   */
  used(prompt: KeptPrompt): void {
    this.remove(prompt);
    this.#kept.set(prompt, prompt.bytes);
    this.#bytes += prompt.bytes;
    for (const other of this.#kept.keys()) {
      if (this.#bytes <= this.#bytesMax) return;
      if (other !== prompt && !this.#inUse.has(other)) other.drop();
    }
  }

  /** A prompt is no longer in memory. */
  remove(prompt: KeptPrompt): void {
    this.#bytes -= this.#kept.get(prompt) ?? 0;
    this.#kept.delete(prompt);
  }

  /**
   * Resolves when a request with this prompt may be made, with the function that ends it. Until
   * then the prompt is not dropped. Waits while the requests of other turns take the whole budget,
   * unless the signal aborts.
   */
  async requesting(prompt: KeptPrompt, signal: AbortSignal): Promise<() => void> {
    this.#use(prompt, 1);
    this.#requests ??= new ByteBudget(this.#bytesMax);
    const taken = this.#requests.take(prompt.bytes * REQUEST_COPIES);
    const release = await orAborted(taken, signal);
    return () => {
      this.#use(prompt, -1);
      if (release !== null) release();
      else void taken.then((late) => late());
    };
  }

  #use(prompt: KeptPrompt, by: 1 | -1): void {
    const count = (this.#inUse.get(prompt) ?? 0) + by;
    if (count === 0) this.#inUse.delete(prompt);
    else this.#inUse.set(prompt, count);
  }
}
