/** A name that is compared, instead of a regular expression that is searched. */
const PLAIN = /^[\w |,]+$/;

/**
 * Reads a matcher: null, "" and "*" accept everything; names, with `|` between them, are compared as a whole; everything else is a regular
 * expression that has to occur in a name. Returns a problem if it is not a valid expression.
 */
export function readMatcher(matcher: string | null): ((names: readonly string[]) => boolean) | { problem: string } {
  if (matcher === null || matcher === '' || matcher === '*') return () => true;
  if (PLAIN.test(matcher)) {
    const accepted = matcher.split(/[|,]/).map((name) => name.trim());
    return (names) => names.some((name) => accepted.includes(name));
  }
  try {
    const pattern = new RegExp(matcher, 'u');
    return (names) => names.some((name) => pattern.test(name));
  } catch (error) {
    if (error instanceof SyntaxError) return { problem: error.message };
    throw error;
  }
}
