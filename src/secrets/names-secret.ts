/**
 * A key that contains one of these words names a secret, in any spelling: clientSecret,
 * AWS_SECRET_ACCESS_KEY.
 */
const SECRET_WORDS = new Set([
  ...[
    'secret',
    'secrets',
    'password',
    'passwords',
    'passwd',
    'passphrase',
    'pwd',
    'credential',
    'credentials',
  ],
  ...['passcode', 'psk', 'cred', 'creds', 'authorization', 'bearer', 'apikey', 'jwt', 'pat', 'dsn'],
]);
/**
 * Words that end like these name secrets too, such as SSHPASS and DBPWD, except for ORDINARY_WORDS.
 */
const SECRET_ENDS = /(pass|passwd|pwd|connstr|connectionstrings?)$/;
const ORDINARY_WORDS = new Set([
  ...[
    'askpass',
    'bypass',
    'compass',
    'encompass',
    'overpass',
    'surpass',
    'trespass',
    'underpass',
    'oldpwd',
  ],
]);
/** These words count only at the end of a key: refresh_token and http_headers, not tokenUsage. */
const LAST_WORDS = new Set(['token', 'headers', 'cookie', 'cookies', 'auth', 'oauth']);
/** `auth` before one of these words is not a secret: SSH_AUTH_SOCK, authMode. */
const AUTH_SETTINGS = new Set([
  ...[
    'sock',
    'socket',
    'mode',
    'method',
    'methods',
    'type',
    'types',
    'kind',
    'status',
    'provider',
    'providers',
    'plugin',
    'enabled',
  ],
  ...[
    'disabled',
    'required',
    'url',
    'uri',
    'host',
    'port',
    'server',
    'endpoint',
    'domain',
    'realm',
    'user',
    'username',
    'file',
    'path',
  ],
  ...[
    'dir',
    'timeout',
    'debug',
    'level',
    'audience',
    'issuer',
    'scope',
    'scopes',
    'client',
    'redirect',
    'callback',
  ],
]);
/**
 * `key` counts only after one of these words: api_key, OPENAI_API_KEY, but not env_key, which names
 * a variable.
 */
const KEY_KINDS = new Set([
  ...['api', 'private', 'access', 'encryption', 'session', 'signing', 'subscription'],
  ...['client', 'ssh', 'master', 'shared', 'account'],
]);
/**
 * A variable whose name contains one of these is withheld from commands, whatever the words of its
 * name are.
 */
const SECRET_PARTS = /KEY|SECRET|TOKEN|PASSWORD|CREDENTIAL/i;
/** These variables hold the working directory, though `pwd` is a word for a password. */
const ORDINARY_VARIABLES = new Set(['PWD', 'OLDPWD']);
/**
 * All values in these tables are secret, whatever their keys are. `set` belongs to
 * shell_environment_policy.
 */
const SECRET_TABLES = new Set(['env', 'set', 'query params']);

/**
 * Whether the name of a key means that its value is a secret. In a dotted key, one such part is
 * enough, because the values below a secret table are secret too.
 */
export function namesSecret(key: string): boolean {
  return key.split('.').some((part) => partNamesSecret(wordsOf(part)));
}

/** Whether the name of an environment variable means that its value is a secret. */
export function variableNamesSecret(name: string): boolean {
  return (
    SECRET_PARTS.test(name) ||
    (!ORDINARY_VARIABLES.has(name.toUpperCase()) && wordsNameSecret(wordsOf(name)))
  );
}

/** A value whose name ends with one of these can only be a key. */
const VALUE_ENDS =
  /^(?:token|secret|passphrase|passcode|apikey|jwt|pat|psk|\w*(?:password|passwd|pwd))$/;

/**
 * Whether a value of this name is a key and nothing else: its last word says so. What is only about
 * a key, such as password-stdin, credential.helper or TOKEN_URL, may name a place or a program.
 */
export function namesKey(name: string): boolean {
  const words = wordsOf(name);
  const last = words.at(-1) ?? '';
  return VALUE_ENDS.test(last)
    ? !ORDINARY_WORDS.has(last)
    : last === 'key' && KEY_KINDS.has(words.at(-2) ?? '');
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
  return !isOfVariable(words) && (SECRET_TABLES.has(words.join(' ')) || wordsNameSecret(words));
}

function wordsNameSecret(words: string[]): boolean {
  return (
    words.some((word, index) => wordNamesSecret(word, words, index)) ||
    LAST_WORDS.has(words.at(-1) ?? '')
  );
}

function wordNamesSecret(word: string, words: string[], index: number): boolean {
  const before = words[index - 1] ?? '';
  if (word === 'key' || word === 'keys') return KEY_KINDS.has(before);
  if (word === 'auth') return !AUTH_SETTINGS.has(words[index + 1] ?? '');
  if (/^str(ings?)?$/.test(word)) return before === 'connection' || before === 'conn';
  return SECRET_WORDS.has(word) || (SECRET_ENDS.test(word) && !ORDINARY_WORDS.has(word));
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
    .filter((word) => word !== '')
    .map((word) => word.replace(/(?<=[a-z])\d+$/, ''));
}
