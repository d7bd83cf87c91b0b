import type { JsonValue } from '../base/json.ts';
import type { ToolSpec } from '../model/model.ts';
import type { Announcement } from '../protocol/announcement.ts';

/** What a tool is told of the turn it runs in. */
export interface ToolContext {
  threadId: string;
  turnId: string;
  /** Tells the thread's clients, in the order of the thread's other events. */
  emit(announcement: Announcement): Promise<void>;
}

/** What goes back to the model. A failure is a result that the model reads, never an exception. */
export interface ToolResult {
  output: string;
  success: boolean;
}

/** Something that the model can call. */
export interface Tool {
  readonly spec: ToolSpec;
  /** `args` is whatever JSON the model gave; the tool says to the model what is wrong with it. */
  run(args: JsonValue, context: ToolContext, signal: AbortSignal): Promise<ToolResult>;
}
