import { namesSecret } from './names-secret.ts';

export const HIDDEN = '[hidden]';

/** Keys of providers and services, which are recognized anywhere. */
export const KEY_SHAPES: readonly RegExp[] = [
  /\bsk-[\w-]{16,}/gi,
  /\bgh[opusr]_\w{16,}/g,
  /\bgithub_pat_\w{16,}/g,
  /\bglpat-[\w-]{16,}/g,
  /\bxox[a-z]-[\w-]{8,}/g,
  /\b[sr]k_(?:live|test)_\w{16,}/g,
  /\bnpm_[A-Za-z0-9]{36}\b/g,
  /\bhf_[A-Za-z0-9]{20,}/g,
  /\bpypi-[\w-]{32,}/g,
  /\bya29\.[\w-]{20,}/g,
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g,
  /\bAIza[\w-]{30,}/g,
  /\bxai-[\w-]{16,}/g,
  /\bgsk_\w{16,}/g,
  // A JSON Web Token.
  /\beyJ[\w-]{4,}\.eyJ[\w-]{4,}\.[\w-]*/g,
];

/** Further secrets that are recognized anywhere. They may contain other things than a key. */
const SECRET_SHAPES = [
  /\bhttps:\/\/hooks\.slack\.com\/services\/[\w/]+/g,
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/g,
];

/** Credentials after the word Bearer or in an Authorization header. */
const CREDENTIALS =
  /\b(Bearer\s{1,8}|Authorization["']?\s{0,4}:\s{0,4}["']?Basic\s{1,8})[^\s"'\\]+/gi;

const ADDRESS = /\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s"'<>`\\]*/gi;

/**
 * `name=value` and `--name value`. Names are limited in length and begin at the start of a word, so
 * that a long text is read only once.
 */
const ASSIGNED = /(?<![\w.-])([\w.-]{1,100})=("[^"]*"?|'[^']*'?|[^\s&;"']+)/g;
const FLAGGED = /(?<![\w.-])--?([a-z][\w-]{0,100})\s{1,8}([^\s"'-][^\s"']*)/gi;
/** A member in an incomplete piece of JSON, or in JSON inside a string; a header. */
const MEMBER = /((\\?["'])([\w.-]{1,100})\2\s{0,8}:\s{0,8}\\?["'])[^"'\\]*/g;
const HEADER = /(?<![\w.-])([a-z]\w{0,50}(?:-\w{1,50}){1,8})(:\s{0,4})([^\s"',;\\]+)/gi;

/**
 * A URL with a password, which may contain characters that URLs do not allow. A port is not a
 * password.
 */
const PASSWORD_ADDRESS =
  /\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s/?#@:]{0,200}:(?!\d{1,5}(?:[/?#]|$))[^\s@]{1,500}@/i;
/** A URL whose user is long and has letters and digits, as tokens do. */
const TOKEN_ADDRESS =
  /\b[a-z][a-z0-9+.-]{0,30}:\/\/(?=[\w-]{0,200}\d)(?=[\w-]{0,200}[a-z])[\w-]{16,200}:?@/i;
/** The data source name of a database, and a proxy without a scheme, as the whole value. */
const PASSWORD_SOURCE = /^[^\s:@/]{1,200}:[^\s@]{1,500}@(?:\w+\(|[\w.-]+:\d{1,5}\/?$)/;

/**
 * Whether a value, for example of an environment variable, contains something that looks like a
 * secret. Addresses count only if they have a password, a token or a secret parameter.
 */
export function holdsSecret(value: string): boolean {
  const isAddress =
    PASSWORD_ADDRESS.test(value) || TOKEN_ADDRESS.test(value) || PASSWORD_SOURCE.test(value);
  return isAddress || withoutLikelySecrets(value, (address) => address) !== value;
}

/**
 * The text with `[hidden]` in place of everything that looks like a secret, and of credentials and
 * queries in URLs.
 */
export function redactLikelySecrets(text: string): string {
  return withoutLikelySecrets(text, withoutCredentials);
}

/**
 * A private key, or the beginning of one: its lines can only be of a key, except for headers of
 * encrypted keys, and for a short last line before the end. The lines may also be in a string of
 * JSON.
 */
export const KEY_LINES =
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:(?:\\[rn]|\s){1,8}(?:Proc-Type|DEK-Info): [\w,-]{1,100})*(?:(?:\\[rn]|\s){1,8}[\w+/=]{40,})+(?:(?:\\[rn]|\s){1,8}[\w+/=]{0,64}(?:\\[rn]|\s){0,8}\+?-----END [A-Z ]{0,40}PRIVATE KEY-----)?/g;

function withoutLikelySecrets(text: string, showAddress: (address: string) => string): string {
  const hidden = (all: string, value: string) =>
    `${all.slice(0, all.length - value.length)}${HIDDEN}`;
  return [...KEY_SHAPES, ...SECRET_SHAPES]
    .reduce((rest, shape) => rest.replace(shape, HIDDEN), text)
    .replace(CREDENTIALS, (all: string, head: string) => hidden(all, all.slice(head.length)))
    .replace(ADDRESS, showAddress)
    .replace(ASSIGNED, (all: string, name: string, value: string) =>
      namesSecret(name) ? hidden(all, value) : all,
    )
    .replace(FLAGGED, (all: string, name: string, value: string) =>
      namesSecret(name) ? hidden(all, value) : all,
    )
    .replace(MEMBER, (all: string, head: string, _quote, name: string) =>
      namesSecret(name) ? hidden(all, all.slice(head.length)) : all,
    )
    .replace(HEADER, (all: string, name: string, _colon, value: string) =>
      namesSecret(name) ? hidden(all, value) : all,
    );
}

/** The passwords in the URLs of a text. */
export function passwordsIn(text: string): string[] {
  return [...text.matchAll(ADDRESS)].flatMap(
    ([address]) => /^[^/]*\/\/[^/?#:]*:([^/?#]*)@/.exec(address)?.[1] ?? [],
  );
}

/** A URL without its credentials, its query and values in its fragment. */
function withoutCredentials(address: string): string {
  const hash = address.indexOf('#');
  const [place, fragment] =
    hash === -1 ? [address, ''] : [address.slice(0, hash), address.slice(hash)];
  const shown = place.replace(/^([^/]*\/\/)[^/?]*@/, `$1${HIDDEN}@`).replace(/\?.*$/, `?${HIDDEN}`);
  return `${shown}${fragment.includes('=') ? `#${HIDDEN}` : fragment}`;
}

/** Whether this is a flag such as `--token`, whose value, the next argument, is a secret. */
export function isSecretFlag(argument: unknown): boolean {
  return (
    typeof argument === 'string' && /^--?[a-z][\w-]*$/i.test(argument) && namesSecret(argument)
  );
}
