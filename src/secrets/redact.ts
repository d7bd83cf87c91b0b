/**
 * Shorter secrets are not replaced: they also occur in ordinary words, and the text would become
 * unreadable.
 */
const SECRET_CHARS_MIN = 8;

const MASK = '…';

/**
 * These secrets as `redact` needs them: each once, the longest first, without those that are too
 * short.
 */
export function longestFirst(secrets: readonly string[]): string[] {
  return [...new Set(secrets)]
    .filter(({ length }) => length >= SECRET_CHARS_MIN)
    .sort((a, b) => b.length - a.length);
}

/**
 * The text with `…` in place of these known secrets. Longer secrets must come before shorter ones
 * that they may contain.
 */
export function redact(text: string, secrets: readonly string[]): string {
  return secrets.length === 0 ? text : text.replace(anyOf(secrets), MASK);
}

/**
 * Redacts known secrets in a text that arrives in pieces, with the same result as `redact` for the
 * whole text.
 */
export class RedactedStream {
  readonly #secrets: readonly string[];
  readonly #pattern: RegExp;
  readonly #charsMax: number;
  /** The UTF-16 codes with which secrets begin. */
  readonly #firstCodes: readonly number[];
  #held = '';

  /** `secrets`: at least one, and longer ones before shorter ones. */
  constructor(secrets: readonly string[]) {
    this.#secrets = secrets;
    this.#pattern = anyOf(secrets);
    this.#charsMax = secrets[0]?.length ?? 0;
    this.#firstCodes = [...new Set(secrets.map((secret) => secret.charCodeAt(0)))];
  }

  /**
   * Takes the next piece and returns what can be shown now. Holds back only an end that may be the
   * beginning of a secret.
   */
  push(piece: string): string {
    // Most pieces are a word, in which no secret can begin.
    if (this.#held === '' && !this.#mayBeginIn(piece)) return piece;
    const text = this.#held + piece;
    let shown = '';
    let start = 0;
    for (;;) {
      const held = this.#heldFrom(text, start);
      this.#pattern.lastIndex = start;
      const found = this.#pattern.exec(text);
      if (found === null || found.index >= held) {
        this.#held = text.slice(held);
        return shown + text.slice(start, held);
      }
      shown += text.slice(start, found.index) + MASK;
      start = found.index + found[0].length;
    }
  }

  /** Ends the text and returns the rest of it. */
  end(): string {
    const rest = redact(this.#held, this.#secrets);
    this.#held = '';
    return rest;
  }

  #mayBeginIn(piece: string): boolean {
    for (let index = 0; index < piece.length; index++)
      if (this.#firstCodes.includes(piece.charCodeAt(index))) return true;
    return false;
  }

  /**
   * Returns the index of the longest end of the text that is an incomplete beginning of a secret.
   * Returns the length if there is none.
   */
  #heldFrom(text: string, start: number): number {
    for (
      let index = Math.max(start, text.length - this.#charsMax + 1);
      index < text.length;
      index++
    ) {
      if (!this.#firstCodes.includes(text.charCodeAt(index))) continue;
      const end = text.slice(index);
      if (this.#secrets.some((secret) => secret.length > end.length && secret.startsWith(end)))
        return index;
    }
    return text.length;
  }
}

/** Matches each secret; at one position the longest, as it comes first. */
function anyOf(secrets: readonly string[]): RegExp {
  return new RegExp(
    secrets.map((secret) => secret.replace(/[\\^$.|?*+()[\]{}/-]/g, '\\$&')).join('|'),
    'g',
  );
}

/** Headers and parameters whose values are public. The values of all others count as secrets. */
const PUBLIC_NAMES = new Set([
  ...[
    'accept',
    'accept-encoding',
    'accept-language',
    'cache-control',
    'connection',
    'content-type',
    'user-agent',
    'referer',
  ],
  ...[
    'http-referer',
    'x-title',
    'anthropic-version',
    'anthropic-beta',
    'openai-beta',
    'api-version',
    'version',
    'alt',
    'beta',
  ],
]);

/**
 * The secrets of a request, for `redact`: the credentials and query values of its URL, encoded and
 * decoded, and the values of these headers, whole and word by word, without public ones such as
 * user-agent. Each in all forms that JSON and URLs may have. The longest comes first. Secrets of
 * fewer than 8 characters are left out.
 */
export function secretsOf(url: URL, headers: Readonly<Record<string, string>>): string[] {
  const hasNone =
    url.username === '' &&
    url.password === '' &&
    url.search === '' &&
    Object.values(headers).every((value) => value === '');
  if (hasNone) return [];
  const user = decoded(url.username);
  const password = decoded(url.password);
  const pairs = url.search
    .slice(1)
    .split('&')
    .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)] as const);
  const secrets = [
    ...secretValues(Object.entries(headers)).flatMap((value) => [value, ...value.split(/\s+/)]),
    ...[
      url.username,
      user,
      url.password,
      password,
      Buffer.from(`${user}:${password}`).toString('base64'),
    ],
    ...secretValues(pairs),
    ...secretValues([...url.searchParams]),
  ];
  const forms = secrets.filter(({ length }) => length >= SECRET_CHARS_MIN).flatMap(writtenForms);
  return [...new Set(forms)].sort((a, b) => b.length - a.length);
}

function secretValues(pairs: readonly (readonly [string, string])[]): string[] {
  return pairs.filter(([name]) => !PUBLIC_NAMES.has(name.toLowerCase())).map(([, value]) => value);
}

/** The text with percent-encoding decoded, or the text itself if it is not encoded correctly. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * The string itself, as in a JSON string (also with escaped slashes), percent-encoded, and encoded
 * as in HTML forms.
 */
function writtenForms(text: string): string[] {
  const json = JSON.stringify(text).slice(1, -1);
  const percent = encodeURIComponent(text);
  const lowerCase = percent.replace(/%../g, (code) => code.toLowerCase());
  const form = new URLSearchParams({ '': text }).toString().slice(1);
  return [text, json, json.replaceAll('/', '\\/'), percent, lowerCase, form];
}
