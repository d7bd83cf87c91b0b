/** A key that contains one of these words names a secret, in any spelling: clientSecret, AWS_SECRET_ACCESS_KEY. */
const SECRET_WORDS = new Set([
  ...['secret', 'secrets', 'password', 'passwords', 'passwd', 'passphrase', 'pwd', 'credential', 'credentials'],
  ...['authorization', 'bearer', 'apikey', 'jwt', 'pat'],
]);
/** These words count only at the end of a key: refresh_token and http_headers, not tokenUsage. */
const LAST_WORDS = new Set(['token', 'headers', 'cookie', 'cookies', 'auth']);
/** `key` counts only after one of these words: api_key, OPENAI_API_KEY, but not env_key, which names a variable. */
const KEY_KINDS = new Set([
  ...['api', 'private', 'access', 'encryption', 'session', 'signing', 'subscription'],
  ...['client', 'ssh', 'master', 'shared', 'account'],
]);
/** All values in these tables are secret, whatever their keys are. `set` belongs to shell_environment_policy. */
const SECRET_TABLES = new Set(['env', 'set', 'query params']);

/**
 * Whether the key, or the name of an environment variable, says that its value is a secret. In a dotted key, one part is enough,
 * since the values below a secret table are secret too.
 */
export function namesSecret(key: string): boolean {
  return key.split('.').some((part) => partNamesSecret(wordsOf(part)));
}

/** Whether strings under this key are secrets while numbers are counts: tokens, inputTokens. */
export function namesTokens(key: string): boolean {
  return wordsOf(key).at(-1) === 'tokens';
}

/** Whether the key's value is the name of an environment variable, which is not secret. */
export function namesVariable(key: string): boolean {
  return isOfVariable(wordsOf(key));
}

function partNamesSecret(words: string[]): boolean {
  if (isOfVariable(words)) return false;
  const isKey = words.some((word, index) => /^keys?$/.test(word) && KEY_KINDS.has(words[index - 1] ?? ''));
  return isKey || SECRET_TABLES.has(words.join(' ')) || words.some((word) => SECRET_WORDS.has(word)) || LAST_WORDS.has(words.at(-1) ?? '');
}

/** True for env_key, bearer_token_env_var and apiKeyEnv, but not for env itself. */
function isOfVariable(words: string[]): boolean {
  return words.length > 1 && /(^| )env( key| var)?$/.test(words.join(' '));
}

function wordsOf(key: string): string[] {
  return key
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
}
