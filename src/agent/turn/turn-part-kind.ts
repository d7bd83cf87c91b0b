import type { ThreadPatch, ThreadRecord } from '../../store/thread-record.ts';
import type { ThreadContext } from '../thread-context.ts';
import type { TurnPart } from './turn-part.ts';

/** A kind of part: every loaded thread has one part of each kind. */
export interface TurnPartKind {
  /** Creates the part of a thread. The other parts of the thread do not exist yet. */
  create(thread: ThreadContext): TurnPart;
  /** The change that a revert makes to the record of a thread, loaded or not. */
  reverted?(record: ThreadRecord): ThreadPatch;
}

/** The changes that a revert makes to the record of a thread, from all kinds of parts. */
export function revertedPatch(kinds: readonly TurnPartKind[], record: ThreadRecord): ThreadPatch {
  return Object.assign({}, ...kinds.map((kind) => kind.reverted?.(record) ?? {})) as ThreadPatch;
}
