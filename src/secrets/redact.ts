/** Shorter secrets are not replaced: they also occur in ordinary words, and the text would become unreadable. */
const SECRET_CHARS_MIN = 8;

/** The text with `…` in place of these known secrets. Longer secrets must come before shorter ones that they may contain. */
export function redact(text: string, secrets: readonly string[]): string {
  return secrets.reduce((result, secret) => result.replaceAll(secret, '…'), text);
}

/**
 * The secrets of a request, for `redact`: the credentials and query values of its URL, encoded and decoded, and these header
 * values, whole and word by word. Each in all forms that JSON and URLs may have. The longest comes first.
 */
export function secretsOf(url: URL, headerValues: string[]): string[] {
  const user = decodeURIComponent(url.username);
  const password = decodeURIComponent(url.password);
  const secrets = [
    ...headerValues.flatMap((value) => [value, ...value.split(/\s+/)]),
    ...[url.username, user, url.password, password, Buffer.from(`${user}:${password}`).toString('base64')],
    ...url.search
      .slice(1)
      .split('&')
      .map((pair) => pair.slice(pair.indexOf('=') + 1)),
    ...url.searchParams.values(),
  ];
  const forms = secrets.filter(({ length }) => length >= SECRET_CHARS_MIN).flatMap(writtenForms);
  return [...new Set(forms)].sort((a, b) => b.length - a.length);
}

/** The string itself, as in a JSON string (also with escaped slashes), percent-encoded, and encoded as in HTML forms. */
function writtenForms(text: string): string[] {
  const json = JSON.stringify(text).slice(1, -1);
  const percent = encodeURIComponent(text);
  const lowerCase = percent.replace(/%../g, (code) => code.toLowerCase());
  const form = new URLSearchParams({ '': text }).toString().slice(1);
  return [text, json, json.replaceAll('/', '\\/'), percent, lowerCase, form];
}
