/** Shorter ones are found in plain words too; to take them out would make texts unreadable. */
const SECRET_CHARS_MIN = 8;

/** A text without these secrets, each longer one before those that it may contain. */
export function redact(text: string, secrets: readonly string[]): string {
  return secrets.reduce((result, secret) => result.replaceAll(secret, '…'), text);
}

/**
 * What must not be shown of a request: credentials and query values of its URL, as they are sent and decoded, and these
 * header values, whole and word by word. The longest is first, as `redact` wants it.
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
  return [...new Set(secrets)].filter(({ length }) => length >= SECRET_CHARS_MIN).sort((a, b) => b.length - a.length);
}
