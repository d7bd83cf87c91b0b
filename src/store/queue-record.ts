/** A submission that waits in the queue of a thread, without what it says. */
export interface WaitingSubmission {
  id: string;
  clientUserMessageId: string;
  /** About how many characters its JSON text has. */
  chars: number;
}

/** The queue of a thread: the inputs that start a turn each, one after another. */
export interface QueueRecord {
  /** The next one first. */
  waiting: readonly WaitingSubmission[];
  /** Those that had their turns last, the oldest first. */
  begun: readonly Omit<WaitingSubmission, 'chars'>[];
}

/**
 * Why the queue does not go on by itself: somebody has interrupted a turn, and none has completed
 * since.
 */
export type QueueHold = 'turnInterrupted';
