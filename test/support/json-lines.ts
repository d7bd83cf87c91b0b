/** The values of a text that has one JSON value per line. */
export function jsonLines<Value>(text: string): Value[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}
