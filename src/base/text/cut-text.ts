/**
 * The start of a string, at most `lengthMax` UTF-16 code units. Never ends with half a surrogate
 * pair, since strict JSON parsers refuse a lone surrogate.
 */
export function cutText(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  return text.slice(0, lengthMax).replace(/[\uD800-\uDBFF]$/, '');
}

/**
 * The end of a string, at most `lengthMax` UTF-16 code units. Never begins with half a surrogate
 * pair.
 */
export function textEnd(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  return text.slice(text.length - lengthMax).replace(/^[\uDC00-\uDFFF]/, '');
}
