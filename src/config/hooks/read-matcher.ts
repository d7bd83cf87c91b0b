/** Names that are compared, instead of a regular expression that is searched. */
const PLAIN = /^[\w |,]+$/;
/** Other engines take flags at the beginning of an expression: `(?i)bash`. */
const FLAGS = /^\(\?([ims]+)\)/;
const ESCAPED = /\\(.)/gsu;

/**
 * Reads a matcher: null, "" and "*" accept everything; names, with `|` or `,` between them, are
 * compared as a whole; everything else is a regular expression that has to occur in a name. Returns
 * a problem if it is not a valid expression.
 */
export function readMatcher(
  matcher: string | null,
): ((names: readonly string[]) => boolean) | { problem: string } {
  if (matcher === null || matcher === '' || matcher === '*') return () => true;
  if (PLAIN.test(matcher)) {
    const accepted = matcher.split(/[|,]/).map((name) => name.trim());
    return (names) => names.some((name) => accepted.includes(name));
  }
  const [start = '', flags = ''] = FLAGS.exec(matcher) ?? [];
  try {
    const pattern = new RegExp(matcher.slice(start.length).replace(ESCAPED, escaped), `${flags}u`);
    return (names) => names.some((name) => pattern.test(name));
  } catch (error) {
    if (error instanceof SyntaxError) return { problem: error.message };
    throw error;
  }
}

/**
 * An escaped character as JavaScript writes it. Others may also escape marks that have no meaning:
 * `\-`.
 */
function escaped(both: string, char: string): string {
  return /[\w\s^$\\.*+?()[\]{}|/]/.test(char) ? both : `\\u{${char.codePointAt(0)?.toString(16)}}`;
}

/**
 * The names of tools in hooks that people write otherwise, and those of the model for the same
 * tools.
 */
const TOOL_NAMES = new Map([
  ...['Bash', 'Edit', 'Write', 'apply_patch'].map((name) => [name.toLowerCase(), name] as const),
  ...['exec_command', 'shell', 'local_shell', 'terminal'].map((name) => [name, 'Bash'] as const),
]);

/**
 * Advice about a matcher with a name that no tool of heddle has, but another spelling has. Null:
 * there is none to give.
 */
export function misspeltTool(matcher: string | null): string | null {
  if (matcher === null || !PLAIN.test(matcher)) return null;
  const names = matcher.split(/[|,]/).map((name) => name.trim());
  const wrong = names.find(
    (name) => ![undefined, name].includes(TOOL_NAMES.get(name.toLowerCase())),
  );
  return wrong === undefined
    ? null
    : `no tool of heddle has the name "${wrong}": did you mean "${TOOL_NAMES.get(wrong.toLowerCase())}"?`;
}
