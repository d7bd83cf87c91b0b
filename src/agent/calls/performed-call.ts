import type { LogEntry } from '../../store/thread-store.ts';
import type { ActionOutcome } from '../../tools/action.ts';
import type { PendingCall } from '../turn/turn-part.ts';

/** The output of one call for the model. */
export interface CallOutput {
  /** The log entries of the output. None if they were made before: a call has one output. */
  entries(outcome: ActionOutcome): LogEntry[];
}

/** A call whose action is performed. */
export interface PerformedCall {
  call: PendingCall;
  /** Null: it is stored after the item. */
  output: CallOutput | null;
  /** Why the reviewer in force must approve the action, even if policy allows it. Null: no part demands it. */
  ask: string | null;
}

/** The end of an action. `isPerformed`: it was not refused. */
export interface PerformedAction {
  outcome: ActionOutcome;
  isPerformed: boolean;
}
