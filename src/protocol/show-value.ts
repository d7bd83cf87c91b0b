import { isObject } from '../base/json-value.ts';
import { cutText } from '../base/text/cut-text.ts';

const SHOWN_CHARS_MAX = 60;

/** A value as an error shows it: long strings are cut, and arrays and objects are only named. */
export function showValue(value: unknown): string {
  if (Array.isArray(value)) return 'an array';
  if (isObject(value)) return 'an object';
  return typeof value === 'string' ? quoteText(value) : String(value);
}

/** A string in quotes, cut after this many characters. */
export function quoteText(text: string, charsMax = SHOWN_CHARS_MAX): string {
  return JSON.stringify(text.length > charsMax ? `${cutText(text, charsMax)}…` : text);
}
