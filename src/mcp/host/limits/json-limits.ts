import { type JsonValue, LEFT_OUT, mapJson, walkJson } from '../../../base/json-value.ts';
import { cutText } from '../../../base/text/cut-text.ts';

/** Around a string, or between a key and its value. */
const MARKS_CHARS = 4;

/**
 * How large JSON data may be: its strings and keys together, its values, and how deeply they are
 * nested.
 */
export interface JsonLimits {
  chars: number;
  values: number;
  depth: number;
}

/**
 * The rest of these limits beside JSON data; null: the data is beyond them. Looks at no more of it
 * then.
 */
export function leftOf(
  { chars, values, depth: depthMax }: JsonLimits,
  data: unknown,
): JsonLimits | null {
  let charsLeft = chars;
  let valuesLeft = values;
  const fits = walkJson(data, (part, key, depth, isElement) => {
    if (key !== null && !isElement) charsLeft -= key.length;
    if (typeof part === 'string') charsLeft -= part.length;
    charsLeft -= MARKS_CHARS;
    return --valuesLeft < 0 || charsLeft < 0 || depth > depthMax ? null : true;
  });
  return fits ? { chars: charsLeft, values: valuesLeft, depth: depthMax } : null;
}

/** Whether JSON data is within these limits. */
export function fitsLimits(limits: JsonLimits, data: unknown): boolean {
  return leftOf(limits, data) !== null;
}

/**
 * A copy of JSON data of about `charsMax` characters, and whether it is cut: strings are, and what
 * follows is left out.
 */
export function cutJson(data: JsonValue, charsMax: number): { value: JsonValue; isCut: boolean } {
  let left = charsMax;
  const value = mapJson(data, (part, key) => {
    if (typeof key === 'string') left -= key.length;
    if (left < 0) return LEFT_OUT;
    left -= MARKS_CHARS;
    if (typeof part !== 'string') return undefined;
    const text = cutText(part, Math.max(0, left));
    left -= part.length;
    return text;
  });
  return { value: value as JsonValue, isCut: left < 0 };
}
