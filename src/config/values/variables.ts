import { isObject, type JsonValue } from '../../base/json-value.ts';
import type { Setting } from '../settings/setting.ts';

/** A table of environment variables. */
export const VARIABLES: Setting<Record<string, string>> = {
  expected: 'a table of variable names and string values',
  absent: {},
  secret: true,
  read: (value) => readTexts(value, (key, text) => /^[^=\0]+$/.test(key) && !text.includes('\0')),
};

export const VARIABLE_NAME: Setting<string> = {
  expected: 'the name of an environment variable, not the token itself',
  absent: '',
  secret: true,
  read: (value) => (typeof value === 'string' && isVariableName(value) ? value : undefined),
};

/** A name, or a table with a name: `{ name = "TOKEN" }`. */
export const VARIABLE_NAMES: Setting<string[]> = {
  expected: 'a list of names of environment variables',
  absent: [],
  secret: true,
  read: (value) => {
    if (!Array.isArray(value)) return undefined;
    const names = value.map((element) => (isObject(element) ? element.name : element));
    return names.every((each): each is string => typeof each === 'string' && isVariableName(each))
      ? names
      : undefined;
  },
};

/** The arguments of a program. */
export const TEXT_LIST: Setting<string[]> = {
  expected: 'a list of strings',
  absent: [],
  secret: true,
  read: (value) => {
    if (!Array.isArray(value)) return undefined;
    const texts = value.filter(
      (element) => typeof element === 'string' && !element.includes('\0'),
    ) as string[];
    return texts.length === value.length ? texts : undefined;
  },
};

/** Undefined: it is no table of strings, or has one that is not accepted. */
export function readTexts(
  value: JsonValue,
  accepts: (key: string, text: string) => boolean,
): Record<string, string> | undefined {
  if (!isObject(value)) return undefined;
  const texts: [string, string][] = [];
  for (const [key, text] of Object.entries(value)) {
    if (typeof text !== 'string' || !accepts(key, text)) return undefined;
    texts.push([key, text]);
  }
  return Object.fromEntries(texts);
}

/** Stricter than the system, so that a token given instead of a variable name is noticed. */
export function isVariableName(text: string): boolean {
  return /^[a-z_]\w*$/i.test(text);
}
