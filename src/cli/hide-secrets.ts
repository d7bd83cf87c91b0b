import type { Env } from '../config/config.ts';
import { redact } from '../model/redact.ts';

/** A key with one of these words is one to a secret, in any spelling: clientSecret, AWS_SECRET_ACCESS_KEY. */
const SECRET_WORDS = ['secret', 'password', 'passwd', 'authorization', 'credential', 'credentials', 'apikey'];
/** These only where they come last: refresh_token and http_headers, not tokenUsage. */
const LAST_WORDS = ['token', 'headers', 'cookie'];
/** What `key` has to stand behind: api_key, OPENAI_API_KEY, not env_key, which names a variable. */
const KEY_KINDS = ['api', 'private', 'access', 'encryption'];
/** What is secret wherever it stands: provider's keys, and what follows the word Bearer. */
const SECRET_TEXT = /\bsk-[\w-]{16,}|(?<=\bBearer\s+)\S+/gi;
/** A shorter value of the environment says nothing, and would hide words that only look like it. */
const SECRET_CHARS_MIN = 8;
const HIDDEN = '[hidden]';

/**
 * Gives what copies a JSON value without secrets: without the values of keys that name one, and without the environment's
 * secrets and what looks like a provider's key in any text.
 */
export function secretHider(env: Env): (value: unknown) => unknown {
  const known = Object.entries(env)
    .flatMap(([name, value = '']) => (namesSecret(name) && value.length >= SECRET_CHARS_MIN ? [value] : []))
    .sort((a, b) => b.length - a.length);
  const hide = (value: unknown): unknown => {
    if (typeof value === 'string') return redact(value, known).replace(SECRET_TEXT, HIDDEN);
    if (Array.isArray(value)) return value.map(hide);
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value);
    // config/value/write names the key in one member and gives the value in another.
    const isNamed = entries.some(([key, name]) => key === 'keyPath' && typeof name === 'string' && namesSecret(name));
    return Object.fromEntries(
      entries.map(([key, part]) => [key, part !== null && (namesSecret(key) || (isNamed && key === 'value')) ? HIDDEN : hide(part)]),
    );
  };
  return hide;
}

/** Whether the value of such a key, or of an environment variable of such a name, is nobody else's business. */
export function namesSecret(key: string): boolean {
  const words = key
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  const isKey = words.some((word, index) => word === 'key' && KEY_KINDS.includes(words[index - 1] ?? ''));
  return isKey || words.some((word) => SECRET_WORDS.includes(word)) || LAST_WORDS.includes(words.at(-1) ?? '');
}
