import type { Env } from '../base/env.ts';
import { isObject, parsedJson } from '../base/json-value.ts';
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
  const redactSecret = (value: unknown, options = { numbers: true }): unknown => {
    if (typeof value === 'string') return HIDDEN;
    if (typeof value === 'number' && options.numbers) return HIDDEN;
    if (Array.isArray(value)) return value.map((part) => redactSecret(part, options));
    if (!isObject(value)) return value;
    return mapEntries(value, (key, part) =>
      isVariableKey(key) ? part : redactSecret(part, options),
    );
  };
  const redactValue = (value: unknown): unknown => {
    if (typeof value === 'string') return redactText(value);
    if (Array.isArray(value))
      return value.map((part, index) =>
        isSecretFlag(value[index - 1]) ? redactSecret(part) : redactValue(part),
      );
    if (!isObject(value)) return value;
    const isNamed = NAMING.some((key) => typeof value[key] === 'string' && namesSecret(value[key]));
    return mapEntries(value, (key, part) => {
      if (namesSecret(key) || (isNamed && key === 'value')) return redactSecret(part);
      return namesTokens(key) ? redactSecret(part, { numbers: false }) : redactValue(part);
    });
  };
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

function mapEntries(
  value: Record<string, unknown>,
  map: (key: string, part: unknown) => unknown,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, map(key, part)]));
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
