/**
 * Returns a function that gives the pattern, and makes it at the first call. Use it for patterns
 * with Unicode classes (`\p{L}`) outside of functions: V8 takes up to a millisecond for each, which
 * every start of the server would pay.
 */
export function latePattern(make: () => RegExp): () => RegExp {
  let pattern: RegExp | null = null;
  return () => {
    pattern ??= make();
    return pattern;
  };
}
