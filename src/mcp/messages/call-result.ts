import { isObject, type JsonValue } from '../../base/json-value.ts';

/** The result of a call of a tool, as the server sent it. */
export interface CallResult {
  content: JsonValue[];
  structuredContent: JsonValue;
  isError: boolean;
  meta: JsonValue;
}

/** Reads the result of a call. */
export function callResult(value: unknown): CallResult {
  const { content, structuredContent, isError, _meta } = isObject(value) ? value : {};
  return {
    content: Array.isArray(content) ? (content as JsonValue[]) : [],
    structuredContent: (structuredContent ?? null) as JsonValue,
    isError: isError === true,
    meta: (_meta ?? null) as JsonValue,
  };
}
