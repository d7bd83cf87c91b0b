import type { LogEntry } from '../../store/log-entry.ts';
import type { ActionOutcome } from '../../tools/action.ts';
import type { PendingCall } from '../turn/turn-events.ts';

/** The output of one call for the model. */
export interface CallOutput {
  /** The log entries of the output. None if they were made before. */
  entries(outcome: ActionOutcome): LogEntry[];
  /** Those of an output that takes the place of the first. */
  replacement(outcome: ActionOutcome): LogEntry[];
}

/** A call whose action is performed. */
export interface PerformedCall {
  call: PendingCall;
  /** It is stored with the item. */
  output: CallOutput;
  /**
   * Why the reviewer in force must approve the action, even if policy allows it. Null: no part
   * demands it.
   */
  ask: string | null;
}

/** The end of an action. `isPerformed`: it was not refused. */
export interface PerformedAction {
  outcome: ActionOutcome;
  isPerformed: boolean;
}
