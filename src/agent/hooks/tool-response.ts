import type { JsonValue } from '../../base/json-value.ts';
import type { ActionOutcome } from '../../tools/action.ts';

/** The result of a call as hooks see it: the output of a command, the whole result of an MCP tool, else what the model reads. */
export function toolResponse({ output, item }: ActionOutcome): JsonValue {
  if (typeof item === 'object' && item.type === 'commandExecution') return item.aggregatedOutput ?? '';
  if (typeof item === 'object' && item.type === 'mcpToolCall' && item.result) return item.result as unknown as JsonValue;
  return output as unknown as JsonValue;
}
