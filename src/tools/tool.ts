import type { JsonValue } from '../base/json-value.ts';
import type { HookForm } from '../hooks/hook-call.ts';
import type { ToolSpec } from '../model/model.ts';
import type { SessionGrants } from '../policy/permissions/session-grants.ts';
import type { ThreadSettings } from '../store/thread-record.ts';
import type { Action, ActionOutcome } from './action.ts';

/** The facts about one call. */
export interface CallContext {
  threadId: string;
  turnId: string;
  /** The model's id for the call. */
  callId: string;
  /**
   * The id of the item that shows the call: the call's own id, unless an earlier item of the thread
   * has it.
   */
  itemId: string;
  /** The current settings of the turn. */
  readonly settings: ThreadSettings;
  /** The permissions that users have granted in this thread so far. */
  readonly grants: SessionGrants;
  /** Aborts when the turn is interrupted. */
  readonly signal: AbortSignal;
}

/**
 * A tool for the model. The tool prepares an action; the agent judges it, asks about it and
 * performs it.
 */
export interface Tool {
  readonly spec: ToolSpec;
  /** The calls of one response run side by side; a call of this tool runs alone. */
  readonly isExclusive?: true;
  /** False: the tool is not offered to the model, but works if the model calls it by name. */
  readonly offered?: false;
  /**
   * The model finds the tool only by search, and is not offered it before. It works if the model
   * calls it by name.
   */
  readonly isDeferred?: true;
  /**
   * How hooks see its calls. Absent: by its name. A tool of a client in the place of a built-in one
   * has none.
   */
  readonly hookForm?: HookForm;
  /**
   * The tool only changes records, such as the goal. A turn that calls only such tools counts as a
   * turn without work.
   */
  readonly onlyRecords?: true;
  /**
   * Validates the arguments and prepares the action. `args` is the JSON from the model, not
   * validated. Returns an outcome instead if there is nothing to perform; its output tells the
   * model why.
   */
  prepare(args: JsonValue, context: CallContext): Promise<Action | ActionOutcome>;
}

/** The specs of the tools that a request offers to the model. */
export function offeredSpecs(tools: readonly Tool[]): ToolSpec[] {
  return tools
    .filter(({ offered, isDeferred }) => offered !== false && isDeferred !== true)
    .map(({ spec }) => spec);
}
