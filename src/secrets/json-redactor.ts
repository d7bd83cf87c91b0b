import type { Env } from '../base/env.ts';
import { isObject, parsedJson } from '../base/json-value.ts';
import { knownSecrets } from './known-secrets.ts';
import { namesSecret, namesTokens, namesVariable } from './names-secret.ts';
import { redact } from './redact.ts';
import { HIDDEN, isSecretFlag, redactLikelySecrets } from './redact-likely-secrets.ts';

/** Members that name the key of the member `value`: in config/value/write, or in a list of headers. */
const NAMING = ['keyPath', 'key', 'name'];

/**
 * Returns a function that copies a JSON value without secrets. Redacts values whose keys name a secret (`namesSecret`), and in
 * all strings the known secrets of the environment (`redact`) and whatever looks like a secret (`redactLikelySecrets`). The
 * function throws a RangeError if the value is nested too deep.
 */
export function jsonRedactor(env: Env): (value: unknown) => unknown {
  const known = knownSecrets(env);
  const redactText = (text: string): string => {
    const inner = jsonIn(text);
    const hidden = inner === undefined ? undefined : redactValue(inner);
    // A string in which nothing is redacted stays as it is.
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

/** The value with all strings and numbers redacted, or only strings if `numbers` is false. Keeps keys and names of variables. */
function redactWhole(value: unknown, options = { numbers: true }): unknown {
  if (typeof value === 'string' || (typeof value === 'number' && options.numbers)) return HIDDEN;
  if (Array.isArray(value)) return value.map((part) => redactWhole(part, options));
  return isObject(value) ? mapEntries(value, (key, part) => (isVariableKey(key) ? part : redactWhole(part, options))) : value;
}

/** Whether this is a setting such as `env_key`, and not a variable of such a name, which would be in capitals. */
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
