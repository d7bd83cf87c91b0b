/** A URL without the parts that may be secret: credentials, query, fragment. */
export function shownUrl(url: URL): string {
  return `${url.origin}${url.pathname}`;
}
