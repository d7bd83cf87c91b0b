import type { Env } from '../base/env.ts';
import type { JsonValue } from '../base/json-value.ts';
import { knownSecrets } from './known-secrets.ts';
import { redact } from './redact.ts';
import { redactInertSecrets } from './redact-likely-secrets.ts';

/**
 * Returns a function that copies a JSON value without the known secrets of the environment, and without what looks like a secret, in
 * all strings. For a reader who must judge what the strings do: see `redactInertSecrets`.
 */
export function inertRedactor(env: Env): <Value extends JsonValue>(value: Value) => Value {
  const known = knownSecrets(env);
  const redactValue = (value: JsonValue): JsonValue => {
    if (typeof value === 'string') return redactInertSecrets(redact(value, known));
    if (Array.isArray(value)) return value.map(redactValue);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, redactValue(part)]));
  };
  return (value) => redactValue(value) as typeof value;
}
