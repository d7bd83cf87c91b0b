import { isObject, type JsonObject, type JsonValue } from '../../base/json-value.ts';
import { jsonWeight } from '../../base/text/json-pieces.ts';
import type { ActionOutcome } from '../../tools/action.ts';

/** The longest result of an MCP tool that hooks get whole, in characters of its JSON. */
const RESULT_CHARS_MAX = 1024 * 1024;
/** A longer string is an image, a recording or a file, which hooks do not get. */
const DATA_CHARS_MAX = 4_096;
const DATA_KEYS = ['data', 'blob', 'image_url', 'audio_url'];

/**
 * The result of a call as hooks see it: the output of a command, the result of an MCP tool, else
 * what the model reads. Without images, and what the model reads in place of a very long result.
 */
export function toolResponse({ output, item }: ActionOutcome): JsonValue {
  if (typeof item === 'object' && item.type === 'commandExecution')
    return item.aggregatedOutput ?? '';
  if (typeof item === 'object' && item.type === 'mcpToolCall' && item.result) {
    const result = withoutData(item.result as unknown as JsonObject);
    if (jsonWeight(result, RESULT_CHARS_MAX) <= RESULT_CHARS_MAX) return result;
  }
  return Array.isArray(output)
    ? output.map((part) => withoutData(part as unknown as JsonObject))
    : (output as JsonValue);
}

/** A block of a result, or a result with its blocks, without the data of images and the like. */
function withoutData(block: JsonValue): JsonValue {
  if (!isObject(block)) return block;
  return Object.fromEntries(
    Object.entries(block as JsonObject).map(([key, value]) => {
      if (key === 'content' && Array.isArray(value)) return [key, value.map(withoutData)];
      if (key === 'resource') return [key, withoutData(value)];
      const isData =
        DATA_KEYS.includes(key) && typeof value === 'string' && value.length > DATA_CHARS_MAX;
      return [key, isData ? `[${value.length} characters left out]` : value];
    }),
  );
}
