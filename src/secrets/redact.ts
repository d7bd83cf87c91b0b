/** Shorter secrets are not replaced: they also occur in ordinary words, and the text would become unreadable. */
export const SECRET_CHARS_MIN = 8;

/** The text with `…` in place of these known secrets. Longer secrets must come before shorter ones that they may contain. */
export function redact(text: string, secrets: readonly string[]): string {
  return secrets.reduce((result, secret) => result.replaceAll(secret, '…'), text);
}

/** Headers and parameters whose values are public. The values of all others count as secrets. */
const PUBLIC_NAMES = new Set([
  ...['accept', 'accept-encoding', 'accept-language', 'cache-control', 'connection', 'content-type', 'user-agent', 'referer'],
  ...['http-referer', 'x-title', 'anthropic-version', 'anthropic-beta', 'openai-beta', 'api-version', 'version', 'alt', 'beta'],
]);

/**
 * The secrets of a request, for `redact`: the credentials and query values of its URL, encoded and decoded, and the values of these
 * headers, whole and word by word, without public ones such as user-agent. Each in all forms that JSON and URLs may have. The
 * longest comes first. Secrets of fewer than 8 characters are left out.
 */
export function secretsOf(url: URL, headers: Readonly<Record<string, string>>): string[] {
  const user = decoded(url.username);
  const password = decoded(url.password);
  const pairs = url.search
    .slice(1)
    .split('&')
    .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)] as const);
  const secrets = [
    ...secretValues(Object.entries(headers)).flatMap((value) => [value, ...value.split(/\s+/)]),
    ...[url.username, user, url.password, password, Buffer.from(`${user}:${password}`).toString('base64')],
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

/** The string itself, as in a JSON string (also with escaped slashes), percent-encoded, and encoded as in HTML forms. */
function writtenForms(text: string): string[] {
  const json = JSON.stringify(text).slice(1, -1);
  const percent = encodeURIComponent(text);
  const lowerCase = percent.replace(/%../g, (code) => code.toLowerCase());
  const form = new URLSearchParams({ '': text }).toString().slice(1);
  return [text, json, json.replaceAll('/', '\\/'), percent, lowerCase, form];
}
