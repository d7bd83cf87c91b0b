import type { TagSplitter } from '../../base/text/tag-splitter.ts';
import type { Announcement } from '../../protocol/announcement.ts';
import type { UntimedItem } from '../../protocol/generated/types.ts';
import type { LogEntry } from '../../store/log-entry.ts';
import type { PlanSplitter } from './plan-splitter.ts';

/** An item that a model's response has begun. */
export interface StreamedItem {
  item: UntimedItem;
  startedAtMs: number;
  unsaved: boolean;
  splitter: PlanSplitter | null;
  /**
   * Holds back the citations in a message: clients get them apart from the text, when the message
   * completes.
   */
  citations: TagSplitter | null;
  /**
   * False for a message in plan mode without text so far: it may consist of the plan only, and is
   * then never shown. False also while it is not certain whether the message continues the one in
   * `repeats`.
   */
  announced: boolean;
  /** A message of an earlier attempt that was shown in part: this one may be the same. */
  repeats: ShownPart | null;
}

/** A message that clients have seen in part before the model was asked again. */
export interface ShownPart {
  id: string;
  startedAtMs: number;
  text: string;
}

/** A step that completes items. */
export interface CompletingStep {
  entries: LogEntry[];
  announce: Announcement[];
  items: StreamedItem[];
}
