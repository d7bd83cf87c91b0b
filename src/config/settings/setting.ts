import type { JsonValue } from '../../base/json-value.ts';

/** How a setting is read. */
export interface Setting<T> {
  /** Describes a valid value. Follows the word "expected" in messages. */
  expected: string;
  /** The value if nothing is set. */
  absent: T;
  /** The value may contain a key or a password, so errors do not quote it. */
  secret?: true;
  /** Returns undefined if the value is invalid. */
  read(value: JsonValue): T | undefined;
}

/** Errors do not quote it: a URL may have a password. */
export const HTTP_URL: Setting<string> = {
  expected: 'an http or https URL',
  absent: '',
  secret: true,
  read: (value) =>
    typeof value === 'string' && /^https?:\/\//i.test(value) && URL.canParse(value)
      ? value
      : undefined,
};

/** The same setting, which is null if nothing is set. */
export function nullable<T>(setting: Setting<T>): Setting<T | null> {
  return { ...setting, absent: null };
}

/** A string, also an empty one. */
export function text(): Setting<string> {
  return {
    expected: 'a string',
    absent: '',
    read: (value) => (typeof value === 'string' ? value : undefined),
  };
}

/** A string that is not blank. */
export function name(): Setting<string> {
  const read = (value: JsonValue) =>
    typeof value === 'string' && value.trim() !== '' ? value : undefined;
  return { expected: 'a non-empty string', absent: '', read };
}

/** `absent`: false. */
export function flag(): Setting<boolean> {
  return {
    expected: 'true or false',
    absent: false,
    read: (value) => (typeof value === 'boolean' ? value : undefined),
  };
}

/** A whole number of at least `min`. A number above `max` becomes `max`. */
export function wholeNumber(min: number, max: number): Setting<number> {
  const read = (value: JsonValue) =>
    typeof value === 'number' && Number.isInteger(value) && value >= min
      ? Math.min(value, max)
      : undefined;
  return { expected: `a whole number, ${min} or more`, absent: min, read };
}

/** One of some words. */
export function choice<T extends string>(words: readonly T[], absent: T): Setting<T> {
  return {
    expected: `one of ${words.map((word) => `"${word}"`).join(', ')}`,
    absent,
    read: (value) => words.find((word) => word === value),
  };
}

/** `of`: the elements, in the plural. */
export function list(of: string, accepts: (element: string) => boolean): Setting<string[]> {
  const read = (value: JsonValue) => {
    if (!Array.isArray(value)) return undefined;
    const elements = value.filter((element) => typeof element === 'string');
    return elements.length === value.length && elements.every(accepts) ? elements : undefined;
  };
  return { expected: `a list of ${of}`, absent: [], read };
}
