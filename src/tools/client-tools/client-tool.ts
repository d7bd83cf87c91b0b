import type { JsonObject } from '../../base/json-value.ts';
import type { ToolNamespace } from '../../model/model.ts';

/** A tool that a client provides for a thread, as the store keeps it. */
export interface ClientTool {
  /** Null: the tool is in no namespace. */
  namespace: ToolNamespace | null;
  name: string;
  description: string;
  /** A JSON Schema of an object. */
  inputSchema: JsonObject;
  /** The model finds the tool only by search. */
  isDeferred: boolean;
}
