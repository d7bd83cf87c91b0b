import type { JsonValue } from '../base/json-value.ts';
import type { ToolSpec } from '../model/model.ts';
import type { Grants } from '../policy/permissions/grants.ts';
import type { ThreadSettings } from '../store/thread-store.ts';
import type { Action, ActionOutcome } from './action.ts';

/** What a tool knows about one call. */
export interface CallContext {
  threadId: string;
  turnId: string;
  /** The model's id for the call. */
  callId: string;
  /** The id of the item that shows the call: the call's own id, unless an earlier item of the thread has it. */
  itemId: string;
  /** The settings that the turn runs with at this moment. */
  readonly settings: ThreadSettings;
  /** What users have allowed in this thread so far. */
  readonly grants: Grants;
}

/** Something that the model can call. A tool prepares an action; the agent judges it, asks about it and performs it. */
export interface Tool {
  readonly spec: ToolSpec;
  /** `thread`: no other call of the same response runs beside this one. */
  readonly lock?: 'thread';
  /** False: the tool is not offered to the model, but the model may know its name and call it. */
  readonly offered?: false;
  /** The tool only keeps records, such as the goal: a turn that calls no other tool has not acted. */
  readonly onlyRecords?: true;
  /**
   * Reads the arguments and works out what the call would do. `args` is the JSON that the model gave, unchecked. Where there is
   * nothing to perform, the outcome tells the model why.
   */
  prepare(args: JsonValue, context: CallContext, signal: AbortSignal): Promise<Action | ActionOutcome>;
}
