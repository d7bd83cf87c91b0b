/** Tells a command from every other that a session's grant could be about: its words, its folder, and how it runs. */
export function commandKey({ argv, cwd, sandboxed }: { argv: readonly string[]; cwd: string; sandboxed: boolean }): string {
  return JSON.stringify([sandboxed, cwd, ...argv]);
}
