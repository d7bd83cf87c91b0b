import type { Announcement } from '../../protocol/announcement.ts';
import type { QueuedSubmission } from '../../protocol/generated/types.ts';
import type { LogEntry, StoredItem } from '../../store/log-entry.ts';
import type { ThreadPatch } from '../../store/thread-record.ts';

/** One step of a thread: what is stored, and what is announced after that. */
export interface Step {
  entries?: LogEntry[];
  patch?: ThreadPatch;
  /** The contents of a submission that the patch adds to the queue, or that has changed in it. */
  queued?: QueuedSubmission;
  /** Whether the step must survive a crash of the machine, not only of the process. */
  durable?: boolean;
  /** No other step is about to follow: this one is stored at once, with those that wait. */
  isLast?: true;
  /** An item that has begun and not completed, with its content so far. */
  partial?: StoredItem;
  /** Items that had begun and are discarded, because the model is asked again. */
  dropped?: readonly StoredItem[];
  announce?: Announcement[];
}

/** Whether a step has something to store. */
export function stores({ entries = [], patch, partial, dropped = [] }: Step): boolean {
  return entries.length > 0 || patch !== undefined || partial !== undefined || dropped.length > 0;
}

/**
 * The part of a step that several parts can contribute to: the entries to store, and the
 * announcements that follow.
 */
export type StepAddition = Pick<Step, 'entries' | 'patch' | 'announce'>;

/** Merges steps into one. Later patches win; entries and announcements keep their order. */
export function mergedSteps(
  steps: readonly StepAddition[],
): StepAddition & Required<Pick<Step, 'announce'>> {
  const merged: StepAddition & Required<Pick<Step, 'announce'>> = { announce: [] };
  for (const { patch, entries, announce } of steps) {
    if (patch !== undefined) merged.patch = { ...merged.patch, ...patch };
    if (entries !== undefined) merged.entries = [...(merged.entries ?? []), ...entries];
    if (announce !== undefined) merged.announce.push(...announce);
  }
  return merged;
}

/** The unfinished items to save and to discard once all steps are done. */
export function unfinishedIn(steps: readonly Step[]): {
  partials: StoredItem[];
  dropped: string[];
} {
  const partials = new Map<string, StoredItem>();
  const dropped = new Set<string>();
  for (const step of steps) {
    if (step.partial !== undefined) partials.set(step.partial.item.id, step.partial);
    for (const entry of step.entries ?? [])
      if (entry.kind === 'item' && !entry.running) partials.delete(entry.item.id);
    for (const { item } of step.dropped ?? []) {
      partials.delete(item.id);
      dropped.add(item.id);
    }
  }
  return {
    partials: [...partials.values()],
    dropped: [...dropped].filter((id) => !partials.has(id)),
  };
}

/**
 * Steps that follow each other: after one that failed, the outbox fails those behind it, with the
 * same error.
 */
export class StepSequence {
  readonly #abort = new AbortController();

  /** Aborts when the sequence fails. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Why the sequence has failed; null: it has not. */
  get failure(): { error: unknown } | null {
    return this.signal.aborted ? { error: this.signal.reason } : null;
  }

  /** For the outbox. The first failure counts. */
  fail(error: unknown): void {
    this.#abort.abort(error);
  }
}
