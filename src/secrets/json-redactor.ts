import type { Env } from '../base/env.ts';
import { isObject, mapJson, parsedJson } from '../base/json-value.ts';
import { knownSecrets } from './known-secrets.ts';
import { namesSecret, namesTokens, namesVariable } from './names-secret.ts';
import { longestFirst, redact } from './redact.ts';
import { HIDDEN, isSecretFlag, redactLikelySecrets } from './redact-likely-secrets.ts';

/**
 * Members that name the key of the member `value`: in config/value/write, or in a list of headers.
 */
const NAMING = ['keyPath', 'key', 'name'];

/**
 * Returns a function that copies a JSON value without secrets. Redacts values whose keys name a
 * secret (`namesSecret`), and in all strings the known secrets of the environment and `further`
 * ones (`redact`) and whatever looks like a secret (`redactLikelySecrets`). The function throws a
 * RangeError if the value is nested too deep.
 */
export function jsonRedactor(
  env: Env,
  further: readonly string[] = [],
): (value: unknown) => unknown {
  const known = writtenSecrets([...knownSecrets(env), ...further]);
  const redactText = (text: string): string =>
    redactedJson(text, redactValue) ?? redactLikelySecrets(redact(text, known));
  const redactSecret = (value: unknown, { numbers = true } = {}): unknown =>
    mapJson(value, (part, key) => {
      if (typeof key === 'string' && isVariableKey(key)) return part;
      return typeof part === 'string' || (numbers && typeof part === 'number') ? HIDDEN : undefined;
    });
  const redactValue = (value: unknown): unknown =>
    mapJson(value, (part, key, inside) => {
      if (isSecret(key, inside)) return redactSecret(part);
      if (typeof key === 'string' && namesTokens(key))
        return redactSecret(part, { numbers: false });
      return typeof part === 'string' ? redactText(part) : undefined;
    });
  return redactValue;
}

/** The secrets, and their form in a string of JSON. */
function writtenSecrets(secrets: readonly string[]): string[] {
  return longestFirst(secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]));
}

/**
 * Whether this is a setting such as `env_key`, and not a variable of such a name, which would be in
 * capitals.
 */
function isVariableKey(key: string): boolean {
  return namesVariable(key) && key !== key.toUpperCase();
}

/** Whether a member or an element is a secret, because of its key or of the members beside it. */
function isSecret(key: string | number | null, inside: unknown): boolean {
  if (Array.isArray(inside)) return isSecretFlag(inside[Number(key) - 1]);
  if (typeof key !== 'string' || !isObject(inside)) return false;
  return namesSecret(key) || (key === 'value' && NAMING.some((name) => isSecretName(inside[name])));
}

function isSecretName(value: unknown): boolean {
  return typeof value === 'string' && namesSecret(value);
}

/**
 * The redacted text of an object or array. Null for any other text, and for one in which nothing is
 * redacted, so that it stays as it is.
 */
function redactedJson(text: string, redactValue: (value: unknown) => unknown): string | null {
  const inner = /^\s*[[{]/.test(text) ? parsedJson(text) : undefined;
  if (inner === undefined) return null;
  try {
    const hidden = JSON.stringify(redactValue(inner));
    return hidden === JSON.stringify(inner) ? null : hidden;
  } catch (error) {
    // It is nested too deep.
    if (error instanceof RangeError) return null;
    throw error;
  }
}
