import type { ThreadTokenUsage, TokenUsageBreakdown } from '../../protocol/generated/types.ts';
import type { ThreadRecord } from '../../store/thread-record.ts';
import type { ThreadStore } from '../../store/thread-store.ts';
import { addUsage } from '../prompt/add-usage.ts';

/** The loaded threads, and which of them are below others. */
interface Lineage {
  /** A loaded thread; null if it is not loaded. */
  find(threadId: string): {
    readonly record: ThreadRecord;
    /**
     * Agents below the thread have used these tokens since it was last told. Called at the end of
     * a turn of one of them.
     */
    agentsUsed(used: TokenUsageBreakdown): void;
  } | null;
  /** The ids of the loaded agents below a thread. */
  below(threadId: string): string[];
  /** The threads above a loaded thread. */
  above(threadId: string): readonly string[];
}

interface AgentsUsageDeps {
  store: Pick<ThreadStore, 'tokensBelow'>;
  loaded: Lineage;
}

/**
 * Counts the tokens of the agents below each loaded thread. The total of a thread itself counts its
 * own requests only.
 */
export class AgentsUsage {
  readonly #deps: AgentsUsageDeps;
  readonly #below = new Map<string, TokenUsageBreakdown>();
  /** The part of it that the thread has not been told. */
  readonly #untold = new Map<string, TokenUsageBreakdown>();
  /** Grows when agents have used tokens, and when threads are unloaded. */
  #uses = 0;

  constructor(deps: AgentsUsageDeps) {
    this.#deps = deps;
  }

  /** The tokens of all agents below a thread; null if they have used none. */
  below(threadId: string): TokenUsageBreakdown | null {
    return this.#below.get(threadId) ?? null;
  }

  /** A thread has used tokens. If it is an agent, they count for the threads above it. */
  used(threadId: string, tokens: TokenUsageBreakdown): void {
    const above = this.#deps.loaded.above(threadId);
    if (above.length > 0) this.#uses++;
    for (const id of above) {
      if (this.#deps.loaded.find(id) === null) continue;
      this.#below.set(id, addUsage(this.below(id), tokens));
      this.#untold.set(id, addUsage(this.#untold.get(id) ?? null, tokens));
    }
  }

  /**
   * The tokens that agents have used so far do not count for what the thread begins now, such as a
   * goal.
   */
  forgetUntold(threadId: string): void {
    this.#untold.delete(threadId);
  }

  /** A turn of a thread has ended. */
  turnEnded(threadId: string): void {
    for (const id of this.#deps.loaded.above(threadId)) {
      const used = this.#untold.get(id);
      this.#untold.delete(id);
      if (used !== undefined) this.#deps.loaded.find(id)?.agentsUsed(used);
    }
  }

  /**
   * Counts the agents below these threads anew, from the store. Call it when a thread has been
   * loaded, and when agents are deleted.
   */
  async count(threadIds: readonly string[]): Promise<void> {
    for (const threadId of threadIds) {
      let uses: number;
      let loadedIds: string[];
      let stored: TokenUsageBreakdown | null;
      // The rows may or may not have tokens that are used during the read.
      do {
        uses = this.#uses;
        loadedIds = this.#deps.loaded.below(threadId).filter((id) => this.#total(id) !== null);
        stored = await this.#deps.store.tokensBelow(threadId, loadedIds);
      } while (uses !== this.#uses);
      // Without a wait in between: what is used from now on is added to the sum.
      const sum = loadedIds.map((id) => this.#total(id)).reduce(addTotals, stored);
      if (sum === null || this.#deps.loaded.find(threadId) === null) this.forget(threadId);
      else this.#below.set(threadId, sum);
    }
  }

  /** Counts anew for the threads above a thread. Call it when the thread has been reverted. */
  countAbove(threadId: string): Promise<void> {
    return this.count(this.#deps.loaded.above(threadId));
  }

  /** The thread is not loaded any more. */
  forget(threadId: string): void {
    this.#uses++;
    this.#below.delete(threadId);
    this.#untold.delete(threadId);
  }

  /** The tokens of a loaded thread; null if it has used none. */
  #total(threadId: string): TokenUsageBreakdown | null {
    return this.#deps.loaded.find(threadId)?.record.tokenUsage?.usage.total ?? null;
  }
}

/** The usage of a thread as clients see it, with that of the agents below it. */
export function usageWithAgents(
  usage: ThreadTokenUsage,
  below: TokenUsageBreakdown | null,
): ThreadTokenUsage {
  return below === null ? usage : { ...usage, withAgents: addUsage(usage.total, below) };
}

function addTotals(
  sum: TokenUsageBreakdown | null,
  total: TokenUsageBreakdown | null,
): TokenUsageBreakdown | null {
  return total === null ? sum : addUsage(sum, total);
}
