/**
 * The start of a text, at most that many UTF-16 units. It never ends with half a surrogate pair: strict readers of JSON refuse
 * a lone surrogate.
 */
export function cutText(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  return text.slice(0, lengthMax).replace(/[\uD800-\uDBFF]$/, '');
}
