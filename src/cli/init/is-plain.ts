import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute } from 'node:path';
import { isVariableName } from '../../config/values/variables.ts';
import { namesSecret } from '../../secrets/names-secret.ts';
import { holdsSecret } from '../../secrets/redact-likely-secrets.ts';

const NAME_CHARS_MAX = 200;

/**
 * Words of a language, names such as gpt-4o, dates and ports. Keys and generated passwords have
 * other words.
 */
const WORDS: readonly RegExp[] = [
  /^\p{Lu}{0,4}\p{Ll}{2,20}(?:\p{Lu}{1,2}\p{Ll}{2,20}){0,3}\p{Lu}{0,4}\d{0,4}$/u,
  /^\p{Lu}{1,20}\d{0,4}$/u,
  /^\p{Lo}{1,40}$/u,
  /^\d{1,8}$/,
];
/** A short word of letters and digits, such as 4o and 7b. A key has many. */
const MIXED = /^[a-z\d]{1,5}$/i;
const MIXED_MAX = 2;

/**
 * Whether a text has only words that a person would write, so that it is neither a key nor a
 * generated password.
 */
export function isPlain(text: string): boolean {
  if (holdsSecret(text)) return false;
  const words = text.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
  const mixed = words.filter((word) => !WORDS.some((shape) => shape.test(word)));
  return mixed.length <= MIXED_MAX && mixed.every((word) => MIXED.test(word));
}

/** Whether a text is the name of something, such as of a model, and no sentence. */
export function isPlainName(text: string): boolean {
  return text.length <= NAME_CHARS_MAX && /^[\p{L}\p{N}_.:/@+ -]*$/u.test(text) && isPlain(text);
}

/** Whether a text is prose that does not say what a password is. */
export function isPlainProse(text: string): boolean {
  const said = text.matchAll(
    /(?<![\p{L}_-])([\p{L}_-]{1,60})["'`]?(?:\s{0,4}[:=]|\s{1,4}(?:is|are|was)\b)/gu,
  );
  return isPlain(text) && ![...said].some(([, name = '']) => namesSecret(name));
}

/**
 * Whether a text is an http or https URL of plain words, without a user, a password, a query and a
 * fragment.
 */
export function isPlainUrl(text: string): boolean {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return false;
  const { username, password, search, hash } = new URL(text);
  return (
    username === '' &&
    password === '' &&
    !/[?#]/.test(text) &&
    search === '' &&
    hash === '' &&
    isPlain(text)
  );
}

/** Whether a text is a path of plain words, or of something that exists. */
export function isPlainPath(text: string): boolean {
  return isThere(text) || (!text.includes('\n') && isPlain(text));
}

/** Whether a text is the absolute path of something that exists, or begins with `~/` and is. */
export function isThere(text: string): boolean {
  const path = text.replace(/^(?:~|\$HOME|\$\{HOME\})(?=\/)/, homedir());
  return isAbsolute(path) && !path.includes('\0') && existsSync(path);
}

/** Whether a text is the name of an environment variable, as people write them, and no key. */
export function isPlainVariable(text: string): boolean {
  return isVariableName(text) && /^[A-Z][A-Z\d_]*$|^[a-z][a-z\d_]*$/.test(text) && isPlain(text);
}
