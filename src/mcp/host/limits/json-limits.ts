import type { JsonValue } from '../../../base/json-value.ts';
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
  const fits = (value: unknown, depth: number): boolean => {
    if (typeof value === 'string') charsLeft -= value.length;
    charsLeft -= MARKS_CHARS;
    if (--valuesLeft < 0 || charsLeft < 0 || depth > depthMax) return false;
    if (typeof value !== 'object' || value === null) return true;
    if (Array.isArray(value)) return value.every((each) => fits(each, depth + 1));
    for (const key in value) {
      charsLeft -= key.length;
      if (!fits((value as Record<string, unknown>)[key], depth + 1)) return false;
    }
    return true;
  };
  return fits(data, 0) ? { chars: charsLeft, values: valuesLeft, depth: depthMax } : null;
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
  const cut = (value: JsonValue): JsonValue => {
    left -= MARKS_CHARS;
    if (typeof value === 'string') {
      const text = cutText(value, Math.max(0, left));
      left -= value.length;
      return text;
    }
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.flatMap((each) => (left < 0 ? [] : [cut(each)]));
    const members: Record<string, JsonValue> = {};
    for (const key in value) {
      left -= key.length;
      if (left < 0) break;
      members[key] = cut(value[key] as JsonValue);
    }
    return members;
  };
  const value = cut(data);
  return { value, isCut: left < 0 };
}
