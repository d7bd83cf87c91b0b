import { jsonWeight } from '../../base/text/json-pieces.ts';
import {
  queueFull,
  queueOrderIncomplete,
  submissionNotFound,
} from '../../protocol/errors/queue-errors.ts';
import type { QueuedSubmission } from '../../protocol/generated/types.ts';
import type { QueueRecord, WaitingSubmission } from '../../store/queue-record.ts';

/** The most entries of a queue. */
const ENTRIES_MAX = 100;
/** The most characters that all entries of a queue have together, as JSON. */
const CHARS_MAX = 16 * 1024 * 1024;
/** How many of the submissions that had their turns are remembered. */
const BEGUN_MAX = 100;

/** A queue that nothing was ever in. */
export const NO_QUEUE: QueueRecord = { waiting: [], begun: [] };

/** A change of a queue. The same `queue` as before: nothing changes. */
export interface QueueChange<Result> {
  queue: QueueRecord;
  /** The contents of an entry that is new, or has changed. */
  submission?: QueuedSubmission;
  result: Result;
}

/**
 * Adds a submission at the end. The result is its id: that of an earlier one with the same
 * `clientUserMessageId`, which then is the only one. Throws `queue_full`.
 */
export function added(queue: QueueRecord, submission: QueuedSubmission): QueueChange<string> {
  const { id, clientUserMessageId } = submission;
  const earlier = [...queue.waiting, ...queue.begun].find(
    (each) => each.clientUserMessageId === clientUserMessageId,
  );
  if (earlier !== undefined) return { queue, result: earlier.id };
  const waiting = within([
    ...queue.waiting,
    { id, clientUserMessageId, chars: jsonWeight(submission) },
  ]);
  return { queue: { ...queue, waiting }, submission, result: id };
}

/**
 * Replaces what an entry says. The result is the entry. Throws `submission_not_found`,
 * `queue_full`.
 */
export function updated(
  queue: QueueRecord,
  content: Omit<QueuedSubmission, 'clientUserMessageId'>,
): QueueChange<QueuedSubmission> {
  const { clientUserMessageId } = entryOf(queue, content.id);
  const submission = { ...content, clientUserMessageId };
  const chars = jsonWeight(submission);
  const waiting = within(
    queue.waiting.map((each) => (each.id === content.id ? { ...each, chars } : each)),
  );
  return { queue: { ...queue, waiting }, submission, result: submission };
}

/** Brings the entries into this order. Throws `invalid_params` if each is not named once. */
export function reordered(queue: QueueRecord, ids: readonly string[]): QueueChange<void> {
  const waiting = ids.flatMap((id) => queue.waiting.find((each) => each.id === id) ?? []);
  if (ids.length !== queue.waiting.length || new Set(waiting).size !== ids.length)
    throw queueOrderIncomplete();
  const isSame = waiting.every((each, index) => each === queue.waiting[index]);
  return { queue: isSame ? queue : { ...queue, waiting }, result: undefined };
}

/** Removes an entry. The result is false if there is none. */
export function removed(queue: QueueRecord, id: string): QueueChange<boolean> {
  const waiting = queue.waiting.filter((each) => each.id !== id);
  return waiting.length === queue.waiting.length
    ? { queue, result: false }
    : { queue: { ...queue, waiting }, result: true };
}

/** The queue once an entry has its turn. */
export function begun(
  queue: QueueRecord,
  { id, clientUserMessageId }: WaitingSubmission,
): QueueRecord {
  return {
    ...removed(queue, id).queue,
    begun: [...queue.begun, { id, clientUserMessageId }].slice(-BEGUN_MAX),
  };
}

/** Throws `submission_not_found`. */
export function entryOf(queue: QueueRecord, id: string): WaitingSubmission {
  const entry = queue.waiting.find((each) => each.id === id);
  if (entry === undefined) throw submissionNotFound(id);
  return entry;
}

/** Throws `queue_full`. */
function within(waiting: readonly WaitingSubmission[]): readonly WaitingSubmission[] {
  const limits = { maxEntries: ENTRIES_MAX, maxChars: CHARS_MAX };
  if (waiting.length > ENTRIES_MAX)
    throw queueFull(`the queue of a thread has at most ${ENTRIES_MAX} entries`, limits);
  const chars = waiting.reduce((sum, each) => sum + each.chars, 0);
  if (chars > CHARS_MAX) {
    const text = `the entries of a queue have at most ${CHARS_MAX} characters together, not ${chars}`;
    throw queueFull(text, limits);
  }
  return waiting;
}
