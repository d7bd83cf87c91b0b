const FRONT_MATTER = /^\uFEFF?---[ \t]*\r?\n(.*?\n)??---[ \t]*(?:\r?\n|$)/s;

/**
 * Splits a Markdown file into the YAML between its first two lines of `---`, and the text behind
 * them. Null: it has no such lines.
 */
export function splitFrontMatter(text: string): { yaml: string; body: string } | null {
  const found = FRONT_MATTER.exec(text);
  return found === null ? null : { yaml: found[1] ?? '', body: text.slice(found[0].length) };
}
