import type {
  ResponseItem,
  ThreadTokenUsage,
  TurnError,
  UntimedItem,
} from '../protocol/generated/types.ts';

/**
 * One record of a thread's log. Records are appended and never rewritten.
 *
 * - `turnStarted` and `turnEnded` enclose a turn. A turn without an end was cut off, unless it
 *   still runs. A review that was cut off also leaves review mode.
 * - `item` is an item as clients saw it completed, or with `partial`, as it was last saved. With
 *   `running` the item runs on after its turn, and a later `lateItem` has its end: readers show
 *   that at the position of the first.
 * - `model` is an item that the model reads. A `deferred` one, such as an output, came while the
 *   model was responding: it is read at the next `deferredRead`, or else after its turn's other
 *   items. One that `replaces` takes the place of the last output with its call id.
 * - `compacted` replaces all entries before it that are for the model, deferred ones too, with
 *   `items`. Clients see the same history.
 */
export type LogEntry =
  | {
      kind: 'turnStarted';
      turnId: string;
      startedAtMs: number;
      isReview?: true;
      rootTurnId?: string;
    }
  | {
      kind: 'turnEnded';
      turnId: string;
      status: 'completed' | 'failed' | 'interrupted';
      error: TurnError | null;
      completedAtMs: number;
      durationMs: number;
      /** The thread's total token usage at that time. Null or missing if unknown. */
      tokenUsage?: ThreadTokenUsage | null;
    }
  | ({ kind: 'item'; partial?: boolean; running?: boolean } & StoredItem)
  | ({ kind: 'lateItem' } & StoredItem)
  | {
      kind: 'model';
      turnId: string | null;
      item: ResponseItem;
      deferred?: boolean;
      replaces?: true;
      author?: Author;
    }
  | { kind: 'deferredRead'; turnId: string }
  | {
      kind: 'compacted';
      turnId: string | null;
      items: ResponseItem[];
      authors?: (Author | null)[];
    };

/**
 * The author of a message that the model did not write, or of the output of a call:
 * - `user`: a person wrote it.
 * - `parent`: the model of the thread that started this agent, or that of a thread above, wrote it.
 * - `approval`: the server tells what a person has approved.
 * - `client`: a client has put it into the history in the user's name, by itself.
 * - `context`: the server describes the thread and its surroundings. It tells this again after a
 *   compaction.
 * - `server`: the server, or a client by itself, tells this once.
 */
export type Author = 'user' | 'parent' | 'approval' | 'client' | 'context' | 'server';

/** An item and its times. One that a client has put into the history by itself has none. */
export interface StoredItem {
  turnId: string;
  item: UntimedItem;
  startedAtMs: number | null;
  completedAtMs: number | null;
}

/** An entry that changes what the model reads. */
export type ModelEntry = Extract<LogEntry, { kind: 'model' | 'deferredRead' | 'compacted' }>;

/** A part of the entries for the model, oldest first. */
export interface ModelSlice {
  entries: ModelEntry[];
  /**
   * Continues after these entries, also with entries that are stored later. Null if there are none
   * so far.
   */
  cursor: string | null;
  /** Whether more entries are stored after these. */
  more: boolean;
}
