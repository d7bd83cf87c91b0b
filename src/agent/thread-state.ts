import type { ThreadActiveFlag, ThreadStatus, TokenUsageBreakdown } from '../protocol/generated/types.ts';
import type { ThreadPatch, ThreadRecord, ThreadSettings } from '../store/thread-store.ts';
import type { Step } from './outbox.ts';
import { addUsage } from './prompt/add-usage.ts';
import type { ThreadConfiguration } from './settings/thread-configuration.ts';
import type { ActiveTurn } from './turn/active-turn.ts';

/** What a loaded thread is at this moment, in memory. Its parts share it; each changes it at once, where no wait comes between. */
export class ThreadState {
  record: ThreadRecord;
  configuration: ThreadConfiguration;
  status: 'idle' | 'active' | 'systemError' = 'idle';
  /** The turn that runs; null between turns. */
  turn: ActiveTurn | null = null;
  /** What the turn waits for, with how many questions of each kind are open. */
  readonly #waiting = new Map<ThreadActiveFlag, number>();

  constructor(record: ThreadRecord, configuration: ThreadConfiguration) {
    this.record = record;
    this.configuration = configuration;
  }

  get id(): string {
    return this.record.id;
  }

  get settings(): ThreadSettings {
    return this.record.settings;
  }

  /** The status as clients see it. */
  get shownStatus(): ThreadStatus {
    return this.status === 'active' ? { type: 'active', activeFlags: [...this.#waiting.keys()] } : { type: this.status };
  }

  /** Counts a question that is put or, by -1, settled. True: clients see another status now. */
  wait(flag: ThreadActiveFlag, by: 1 | -1): boolean {
    const count = (this.#waiting.get(flag) ?? 0) + by;
    if (count === 0) this.#waiting.delete(flag);
    else this.#waiting.set(flag, count);
    return count === 0 || (count === 1 && by === 1);
  }

  keep(patch: ThreadPatch): void {
    this.record = { ...this.record, ...patch };
  }

  /** Takes another status, and gives the step that stores and tells it. */
  statusStep(status: ThreadState['status'], nowMs: number): Pick<Step, 'patch'> & Required<Pick<Step, 'announce'>> {
    this.status = status;
    this.keep({ updatedAtMs: nowMs });
    return {
      ...(status === 'active' ? {} : { patch: { updatedAtMs: nowMs } }),
      announce: [{ method: 'thread/status/changed', params: { threadId: this.id, status: this.shownStatus } }],
    };
  }

  /** Adds to the thread's token count, and gives the step that stores and tells it. */
  tokensStep(turnId: string, last: TokenUsageBreakdown): Required<Pick<Step, 'patch' | 'announce'>> {
    const before = this.record.tokenUsage?.usage.total ?? null;
    const usage = { total: addUsage(before, last), last, modelContextWindow: this.configuration.contextWindow };
    const patch: ThreadPatch = { tokenUsage: { turnId, usage } };
    this.keep(patch);
    return { patch, announce: [{ method: 'thread/tokenUsage/updated', params: { threadId: this.id, turnId, tokenUsage: usage } }] };
  }
}
