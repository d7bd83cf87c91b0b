/** Short names of commands, as in Codex. */
const ALIASES: ReadonlyMap<string, string> = new Map([['e', 'exec']]);

/**
 * The name of the command that these words begin with, whether it exists or not. `app-server proxy`
 * is another name of `proxy`, as in Codex, and so are others.
 */
export function commandNamed(words: readonly string[]): string {
  const [first = 'app-server', second] = words;
  const isBelow =
    first === 'app-server' &&
    second !== undefined &&
    (second === 'proxy' || second.startsWith('generate-'));
  return isBelow ? second : (ALIASES.get(first) ?? first);
}

/** The words after the name of the command. */
export function afterCommand(words: readonly string[]): string[] {
  return words.slice(words[0] === 'app-server' && commandNamed(words) !== 'app-server' ? 2 : 1);
}
