import type { ModelEvent } from '../../model/model.ts';
import type { Announcement } from '../../protocol/announcement.ts';
import type { UntimedItem } from '../../protocol/generated/types.ts';

export type ReasoningEvent = Extract<
  ModelEvent,
  { type: 'reasoningSummaryPart' | 'reasoningSummaryDelta' | 'reasoningDelta' }
>;

/** Adds an event's text to a reasoning item, and returns the announcement of it. */
export function growReasoning(
  item: Extract<UntimedItem, { type: 'reasoning' }>,
  event: ReasoningEvent,
  ids: { threadId: string; turnId: string; itemId: string },
): Announcement {
  item.summary ??= [];
  item.content ??= [];
  const { index } = event;
  if (event.type === 'reasoningSummaryPart') {
    grow(item.summary, index, '');
    return { method: 'item/reasoning/summaryPartAdded', params: { ...ids, summaryIndex: index } };
  }
  const { delta } = event;
  if (event.type === 'reasoningSummaryDelta') {
    grow(item.summary, index, delta);
    return {
      method: 'item/reasoning/summaryTextDelta',
      params: { ...ids, summaryIndex: index, delta },
    };
  }
  grow(item.content, index, delta);
  return { method: 'item/reasoning/textDelta', params: { ...ids, contentIndex: index, delta } };
}

/** Appends to the part at this index, and fills missing parts before it with empty strings. */
function grow(parts: string[], index: number, delta: string): void {
  while (parts.length <= index) parts.push('');
  parts[index] = (parts[index] ?? '') + delta;
}
