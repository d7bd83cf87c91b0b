/**
 * The log that a thread's writer appends to, the ordinal of its last entry, and when that was
 * appended.
 */
export interface ThreadTip {
  logId: number;
  tip: number;
  writtenAtMs: number;
}

/**
 * A tip, and the identity of the last write of a writer. Null: none has written since the thread
 * was stored.
 */
export type WrittenTip = ThreadTip & { writeId: string | null };
