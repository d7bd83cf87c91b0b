/** A patch in a command line. */
interface CommandPatch {
  patch: string;
  /** The folder that the line changes to first, as it is written. Null: none. */
  folder: string | null;
}

const FOLDER = `'([^']+)'|"([^"$\`\\\\]+)"|([\\w./+@:,%=-]+)`;
const HEADER = new RegExp(
  `^(?:cd[ \\t]+(?:${FOLDER})[ \\t]*&&[ \\t]*)?(?:apply_patch|applypatch)[ \\t]*<<[ \\t]*(['"]?)([A-Za-z_]\\w*)\\4[ \\t]*$`,
);

/**
 * Returns the patch if a command line only applies one: `apply_patch` or `applypatch` with a
 * heredoc, optionally after a `cd`. Returns null for any other command, which a shell must run.
 * Expands nothing in the heredoc or in the folder.
 */
export function patchInCommand(script: string): CommandPatch | null {
  const lines = script.trim().split('\n');
  const match = HEADER.exec(lines[0] ?? '');
  const tag = match?.[5];
  if (match === null || tag === undefined || lines.indexOf(tag) !== lines.length - 1) return null;
  return { patch: lines.slice(1, -1).join('\n'), folder: match[1] ?? match[2] ?? match[3] ?? null };
}
