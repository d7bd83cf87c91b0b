/** A key with one of these words is one to a secret, in any spelling: clientSecret, AWS_SECRET_ACCESS_KEY. */
const SECRET_WORDS = new Set([
  ...['secret', 'secrets', 'password', 'passwords', 'passwd', 'passphrase', 'pwd', 'credential', 'credentials'],
  ...['authorization', 'bearer', 'apikey', 'jwt', 'pat'],
]);
/** These only where they come last: refresh_token and http_headers, not tokenUsage. */
const LAST_WORDS = new Set(['token', 'headers', 'cookie', 'cookies', 'auth']);
/** What `key` has to stand behind: api_key, OPENAI_API_KEY, not env_key, which names a variable. */
const KEY_KINDS = new Set([
  ...['api', 'private', 'access', 'encryption', 'session', 'signing', 'subscription'],
  ...['client', 'ssh', 'master', 'shared', 'account'],
]);
/** Tables whose values are nobody else's business, whatever their keys are; `set` is that of shell_environment_policy. */
const SECRET_TABLES = new Set(['env', 'set', 'query params']);

/**
 * Whether the value of such a key, or of an environment variable of such a name, is nobody else's business. One part of a
 * dotted key is enough: what stands below it is meant too.
 */
export function namesSecret(key: string): boolean {
  return key.split('.').some((part) => partNamesSecret(wordsOf(part)));
}

/** Whether such a key may hold secret texts, or else counts: tokens, inputTokens. */
export function namesTokens(key: string): boolean {
  return wordsOf(key).at(-1) === 'tokens';
}

/** Whether the value is the name of an environment variable, which may be shown. */
export function namesVariable(key: string): boolean {
  return isOfVariable(wordsOf(key));
}

function partNamesSecret(words: string[]): boolean {
  if (isOfVariable(words)) return false;
  const isKey = words.some((word, index) => /^keys?$/.test(word) && KEY_KINDS.has(words[index - 1] ?? ''));
  return isKey || SECRET_TABLES.has(words.join(' ')) || words.some((word) => SECRET_WORDS.has(word)) || LAST_WORDS.has(words.at(-1) ?? '');
}

/** env_key, bearer_token_env_var, apiKeyEnv; not env itself. */
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
