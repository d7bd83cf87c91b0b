/**
 * Returns the name of a program without its folder, in lower case, because some file systems ignore
 * case. For rules that forbid.
 */
export function programName(word: string): string {
  const name = word.slice(word.lastIndexOf('/') + 1).toLowerCase();
  return name.endsWith('.exe') ? name.slice(0, -4) : name;
}
