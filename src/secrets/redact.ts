/** Shorter ones are found in plain words too; to take them out would make texts unreadable. */
const SECRET_CHARS_MIN = 8;

/** A text without these secrets, each longer one before those that it may contain. */
export function redact(text: string, secrets: readonly string[]): string {
  return secrets.reduce((result, secret) => result.replaceAll(secret, '…'), text);
}

/**
 * What must not be shown of a request: credentials and query values of its URL, as they are sent and decoded, and these
 * header values, whole and word by word; each also as JSON and URLs write it. The longest is first, as `redact` wants it.
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

/** A text as it is, within a text of JSON (some escape the slash, too), and percent-encoded, in a form's way too. */
function writtenForms(text: string): string[] {
  const json = JSON.stringify(text).slice(1, -1);
  const percent = encodeURIComponent(text);
  const lowerCase = percent.replace(/%../g, (code) => code.toLowerCase());
  const form = new URLSearchParams({ '': text }).toString().slice(1);
  return [text, json, json.replaceAll('/', '\\/'), percent, lowerCase, form];
}
