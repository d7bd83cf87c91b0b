import type { Env } from '../base/env.ts';
import { isObject, parsedJson } from '../base/json-value.ts';
import { namesSecret, namesTokens, namesVariable } from './names-secret.ts';
import { redact } from './redact.ts';
import { HIDDEN, isSecretFlag, passwordsIn, redactLikelySecrets } from './redact-likely-secrets.ts';

/** A shorter value of the environment says nothing, and would hide words that only look like it. */
const SECRET_CHARS_MIN = 8;
/** The working folder has the name of a password. */
const NO_SECRETS = new Set(['PWD', 'OLDPWD']);
/** Members that name, each in its own message, what the member `value` is: config/value/write, a header in a list. */
const NAMING = ['keyPath', 'key', 'name'];

/**
 * Gives what copies a JSON value without secrets: without the values of keys that name one, and without the environment's
 * secrets and what looks like a secret in any text. Throws a RangeError where it is nested too deep.
 */
export function jsonRedactor(env: Env): (value: unknown) => unknown {
  const known = knownSecrets(env);
  const redactText = (text: string): string => {
    const inner = jsonIn(text);
    const hidden = inner === undefined ? undefined : redactValue(inner);
    // A text in which nothing is hidden stays as it was written.
    if (hidden !== undefined && JSON.stringify(hidden) !== JSON.stringify(inner)) return JSON.stringify(hidden);
    return redactLikelySecrets(redact(text, known));
  };
  const redactValue = (value: unknown): unknown => {
    if (typeof value === 'string') return redactText(value);
    if (Array.isArray(value)) return value.map((part, index) => (isSecretFlag(value[index - 1]) ? redactWhole(part) : redactValue(part)));
    if (!isObject(value)) return value;
    const isNamed = NAMING.some((key) => typeof value[key] === 'string' && namesSecret(value[key]));
    return mapEntries(value, (key, part) => {
      if (namesSecret(key) || (isNamed && key === 'value')) return redactWhole(part);
      return namesTokens(key) ? redactWhole(part, { numbers: false }) : redactValue(part);
    });
  };
  return redactValue;
}

/** Values of the environment under a name that says so, and passwords in its addresses; the longest first. */
function knownSecrets(env: Env): string[] {
  const secrets = Object.entries(env).flatMap(([name, value = '']) =>
    namesSecret(name) && !NO_SECRETS.has(name) ? [value] : passwordsIn(value),
  );
  return [...new Set(secrets)].filter(({ length }) => length >= SECRET_CHARS_MIN).sort((a, b) => b.length - a.length);
}

/** What stands in place of a secret value: the keys of a table stay, the names of variables do, and counts of tokens. */
function redactWhole(value: unknown, options = { numbers: true }): unknown {
  if (typeof value === 'string' || (typeof value === 'number' && options.numbers)) return HIDDEN;
  if (Array.isArray(value)) return value.map((part) => redactWhole(part, options));
  return isObject(value) ? mapEntries(value, (key, part) => (isVariableKey(key) ? part : redactWhole(part, options))) : value;
}

/** As the setting `env_key` has it; a variable of that name would be in capitals. */
function isVariableKey(key: string): boolean {
  return namesVariable(key) && key !== key.toUpperCase();
}

function mapEntries(value: Record<string, unknown>, map: (key: string, part: unknown) => unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, map(key, part)]));
}

/** The object or array that a string of JSON holds. Returns undefined for any other string. */
function jsonIn(text: string): unknown {
  return /^\s*[[{]/.test(text) ? parsedJson(text) : undefined;
}
