import type { JsonValue } from '../base/json-value.ts';
import type { ToolSpec } from '../model/model.ts';
import type { Grants } from '../policy/permissions/grants.ts';
import type { Announcement } from '../protocol/announcement.ts';
import type { Answer } from '../protocol/answer.ts';
import type { FunctionCallOutputBody, ServerRequests, ThreadItem } from '../protocol/generated/types.ts';
import type { ThreadSettings } from '../store/thread-store.ts';

/** What a tool is told of the turn it runs in. */
export interface ToolContext {
  threadId: string;
  turnId: string;
  /** The model's id for the call. */
  callId: string;
  /** The id of the item that shows the call: the call's own, unless an earlier item of the thread has it. */
  itemId: string;
  /** What the turn runs with at this moment. */
  readonly settings: ThreadSettings;
  /** Tells the thread's clients, in the order of the thread's other events. */
  emit(announcement: Announcement): Promise<void>;
  items: ToolItems;
  approvals: Approvals;
}

/** What goes back to the model. A failure is a result that the model reads, never an exception. */
export interface ToolResult {
  output: FunctionCallOutputBody;
  success: boolean;
}

/** Something that the model can call. */
export interface Tool {
  readonly spec: ToolSpec;
  /** Whether nothing else that the model called for at once may run beside it. */
  readonly exclusive?: boolean;
  /** False: the model is not told of it, though it may know it by name and call it. */
  readonly offered?: false;
  /** `args` is whatever JSON the model gave; the tool says to the model what is wrong with it. */
  run(args: JsonValue, context: ToolContext, signal: AbortSignal): Promise<ToolResult>;
}

/** Shows clients what a tool does, as items. */
export interface ToolItems {
  /** Stores that the item has begun, and tells it. */
  begin(item: ThreadItem): Promise<OpenToolItem>;
}

/** An item that has begun. It may complete when its turn has long ended. */
export interface OpenToolItem {
  readonly startedAtMs: number;
  /**
   * The item as it is now, or what gives it when it is needed. It is put aside every half second at most, so that a kill
   * costs no more of it; what clients are told of its growth goes with it, at once.
   */
  update(item: ThreadItem | (() => ThreadItem), announcement?: Announcement): void;
  /** Null while clients read what they are told; else resolves when they have caught up. */
  drained(): Promise<void> | null;
  /** Stores the whole item, and tells it. Once. Where it cannot be stored now it is told, and stored as soon as that is possible. */
  complete(item: ThreadItem): Promise<void>;
}

/** What a tool can ask of whoever decides. */
export type ApprovalMethod = keyof ServerRequests;

export interface Question<Method extends ApprovalMethod> {
  method: Method;
  params: ServerRequests[Method]['params'];
  /** Done when the thread is shown as waiting and before the question is put, such as to begin the item that it is about. */
  opening?: () => Promise<unknown>;
}

/** The way from a tool to the person who decides. */
export interface Approvals {
  /** What has been allowed in this thread so far. */
  readonly grants: Grants;
  /** How long an answer may take, in milliseconds; null: as long as it does. */
  readonly timeoutMs: number | null;
  /**
   * Asks the thread's clients; the thread is shown as waiting meanwhile. Never rejects, but for what `opening` does: an
   * answer that is an error is a no, and so is silence where it may last only so long; `aborted` says that the turn ended.
   */
  ask<Method extends ApprovalMethod>(question: Question<Method>, signal: AbortSignal): Promise<Answer<ServerRequests[Method]['result']>>;
  /** Interrupts the turn, as an answer asked for. */
  cancelTurn(): void;
}
