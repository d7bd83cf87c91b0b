import { namesSecret } from './names-secret.ts';

export const HIDDEN = '[hidden]';

/** Keys of providers and services, which are recognized anywhere. */
const SHAPES = [
  /\bsk-[\w-]{16,}/gi,
  /\bgh[opusr]_\w{16,}/g,
  /\bgithub_pat_\w{16,}/g,
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g,
  /\bAIza[\w-]{30,}/g,
  /\bxai-[\w-]{16,}/g,
  /\bgsk_\w{16,}/g,
  // A JSON Web Token.
  /\beyJ[\w-]{4,}\.eyJ[\w-]{4,}\.[\w-]*/g,
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/g,
];

/** Credentials after the word Bearer or in an Authorization header. */
const CREDENTIALS = /\b(Bearer\s{1,8}|Authorization["']?\s{0,4}:\s{0,4}["']?Basic\s{1,8})[^\s"'\\]+/gi;

const ADDRESS = /\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s"'<>`\\]*/gi;

/** `name=value` and `--name value`. Names are limited in length and begin at the start of a word, so that a long text is read only once. */
const ASSIGNED = /(?<![\w.-])([\w.-]{1,100})=("[^"]*"?|'[^']*'?|[^\s&;"']+)/g;
const FLAGGED = /(?<![\w.-])--?([a-z][\w-]{0,100})\s{1,8}([^\s"'-][^\s"']*)/gi;
/** A member in an incomplete piece of JSON, or in JSON inside a string; a header. */
const MEMBER = /((\\?["'])([\w.-]{1,100})\2\s{0,8}:\s{0,8}\\?["'])[^"'\\]*/g;
const HEADER = /(?<![\w.-])([a-z]\w{0,50}(?:-\w{1,50}){1,8})(:\s{0,4})([^\s"',;\\]+)/gi;

/** The text with `[hidden]` in place of everything that looks like a secret, and of credentials and queries in URLs. */
export function redactLikelySecrets(text: string): string {
  return SHAPES.reduce((rest, shape) => rest.replace(shape, HIDDEN), text)
    .replace(CREDENTIALS, `$1${HIDDEN}`)
    .replace(ADDRESS, withoutCredentials)
    .replace(ASSIGNED, (all, name: string) => (namesSecret(name) ? `${name}=${HIDDEN}` : all))
    .replace(FLAGGED, (all: string, name: string, value: string) =>
      namesSecret(name) ? `${all.slice(0, all.length - value.length)}${HIDDEN}` : all,
    )
    .replace(MEMBER, (all: string, head: string, _quote, name: string) => (namesSecret(name) ? `${head}${HIDDEN}` : all))
    .replace(HEADER, (all: string, name: string, colon: string) => (namesSecret(name) ? `${name}${colon}${HIDDEN}` : all));
}

/** The passwords in the URLs of a text. */
export function passwordsIn(text: string): string[] {
  return [...text.matchAll(ADDRESS)].flatMap(([address]) => /^[^/]*\/\/[^/?#:]*:([^/?#]*)@/.exec(address)?.[1] ?? []);
}

/** A URL without its credentials, its query and values in its fragment. */
function withoutCredentials(address: string): string {
  const hash = address.indexOf('#');
  const [place, fragment] = hash === -1 ? [address, ''] : [address.slice(0, hash), address.slice(hash)];
  const shown = place.replace(/^([^/]*\/\/)[^/?]*@/, `$1${HIDDEN}@`).replace(/\?.*$/, `?${HIDDEN}`);
  return `${shown}${fragment.includes('=') ? `#${HIDDEN}` : fragment}`;
}

/** Whether this is a flag such as `--token`, whose value, the next argument, is a secret. */
export function isSecretFlag(argument: unknown): boolean {
  return typeof argument === 'string' && /^--?[a-z][\w-]*$/i.test(argument) && namesSecret(argument);
}
