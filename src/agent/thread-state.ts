import type { ThreadActiveFlag, ThreadStatus } from '../protocol/generated/types.ts';
import type { ThreadPatch, ThreadRecord, ThreadSettings } from '../store/thread-record.ts';
import type { WriteChanges } from '../store/thread-store.ts';
import type { Step } from './outbox/step.ts';
import type { ThreadConfiguration } from './settings/thread-configuration.ts';
import type { ActiveTurn } from './turn/active-turn.ts';

/** A change of a thread that is not loaded. `changes`: null: none. */
export interface StoredChange<Result> {
  changes: WriteChanges | null;
  result: Result;
}

/**
 * The state of a loaded thread in memory. Its collaborators share it, and must not await within a
 * change.
 */
export class ThreadState {
  record: ThreadRecord;
  configuration: ThreadConfiguration;
  status: 'idle' | 'active' | 'systemError' = 'idle';
  /** The running turn; null between turns. */
  turn: ActiveTurn | null = null;
  /** How many questions of each kind are open. */
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

  /** The status as clients see it: a turn is active until its end has been announced. */
  get shownStatus(): ThreadStatus {
    return this.#shown(this.turn === null ? this.status : 'active');
  }

  /**
   * Counts a question that is asked (1) or settled (-1). Returns whether the status that clients
   * see has changed.
   */
  wait(flag: ThreadActiveFlag, by: 1 | -1): boolean {
    const count = (this.#waiting.get(flag) ?? 0) + by;
    if (count === 0) this.#waiting.delete(flag);
    else this.#waiting.set(flag, count);
    return count === 0 || (count === 1 && by === 1);
  }

  keep(patch: ThreadPatch): void {
    this.record = { ...this.record, ...patch };
  }

  /** Changes the status at once, and returns the step that stores and announces it. */
  statusStep(
    status: ThreadState['status'],
    nowMs: number,
  ): Pick<Step, 'patch'> & Required<Pick<Step, 'announce'>> {
    this.status = status;
    this.keep({ updatedAtMs: nowMs });
    return {
      ...(status === 'active' ? {} : { patch: { updatedAtMs: nowMs } }),
      announce: [
        {
          method: 'thread/status/changed',
          params: { threadId: this.id, status: this.#shown(status) },
        },
      ],
    };
  }

  #shown(status: ThreadState['status']): ThreadStatus {
    return status === 'active'
      ? { type: 'active', activeFlags: [...this.#waiting.keys()] }
      : { type: status };
  }
}
