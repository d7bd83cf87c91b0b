/** The name of a program, without its folder: what rules that forbid go by. Some file systems do not mind case. */
export function programName(word: string): string {
  const name = word.slice(word.lastIndexOf('/') + 1).toLowerCase();
  return name.endsWith('.exe') ? name.slice(0, -4) : name;
}
