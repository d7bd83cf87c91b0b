import { namesSecret } from './secret-names.ts';

export const HIDDEN = '[hidden]';

/** Keys of providers and services, as they look wherever they stand. */
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

/** What follows the word Bearer, and credentials in a header. */
const CREDENTIALS = /\b(Bearer\s{1,8}|Authorization["']?\s{0,4}:\s{0,4}["']?Basic\s{1,8})[^\s"'\\]+/gi;

/** A scheme, what stands before the host, host and path, a query, a fragment with values. */
const URL_TEXT = /\b([a-z][a-z0-9+.-]{0,30}:\/\/)([^\s/?#@"'<>`\\]*(?:@[^\s/?#@"'<>`\\]*)*@)?([^\s?#"'<>`\\]*)(\?[^\s#"'<>`\\]*)?(#[^\s"'<>`\\]*=[^\s"'<>`\\]*)?/gi;

/** `name=value` and `--name value`. A name is bounded, and begins where a word does: a long text is read through once. */
const ASSIGNED = /(?<![\w.-])([\w.-]{1,100})=("[^"]*"?|'[^']*'?|[^\s&;"']+)/g;
const FLAGGED = /(?<![\w.-])--?([a-z][\w-]{0,100})\s{1,8}([^\s"'-][^\s"']*)/gi;
/** A member of JSON that is only a piece of one, or is written as text; a header. */
const MEMBER = /(\\?["'])([\w.-]{1,100})\1(\s{0,8}:\s{0,8})(\\?["'])([^"'\\]*)/g;
const HEADER = /(?<![\w.-])([a-z]\w{0,50}(?:-\w{1,50}){1,8})(:\s{0,4})([^\s"',;\\]+)/gi;

/** A text without what looks like a secret, and without credentials and queries of addresses. */
export function withoutSecrets(text: string): string {
  return SHAPES.reduce((rest, shape) => rest.replace(shape, HIDDEN), text)
    .replace(CREDENTIALS, `$1${HIDDEN}`)
    .replace(URL_TEXT, (_all, scheme: string, user = '', place = '', query = '', fragment = '') => {
      return `${scheme}${user && `${HIDDEN}@`}${place}${query && `?${HIDDEN}`}${fragment && `#${HIDDEN}`}`;
    })
    .replace(ASSIGNED, (all, name: string) => (namesSecret(name) ? `${name}=${HIDDEN}` : all))
    .replace(FLAGGED, (all: string, name: string, value: string) =>
      namesSecret(name) ? `${all.slice(0, all.length - value.length)}${HIDDEN}` : all,
    )
    .replace(MEMBER, (all: string, quote: string, name: string, colon: string, open: string) =>
      namesSecret(name) ? `${quote}${name}${quote}${colon}${open}${HIDDEN}` : all,
    )
    .replace(HEADER, (all: string, name: string, colon: string) => (namesSecret(name) ? `${name}${colon}${HIDDEN}` : all));
}

/** The passwords in the addresses of a text. */
export function passwordsIn(text: string): string[] {
  return [...text.matchAll(URL_TEXT)].flatMap(([, , user]) => user?.slice(0, -1).split(':').slice(1).join(':') || []);
}

/** Whether the value of this flag, which is the next argument, is a secret: `--token`. */
export function isSecretFlag(argument: unknown): boolean {
  return typeof argument === 'string' && /^--?[a-z][\w-]*$/i.test(argument) && namesSecret(argument);
}
