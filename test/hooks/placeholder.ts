/** What stands for a value in the text of a configuration: a field of an event, or a variable. */
export function placeholder(path: string): string {
  return `$\{${path}}`;
}
