const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', b: '\b', '\\': '\\', '"': '"' };
/** A longer value counts as none. No path or address is longer. */
const VALUE_LENGTH_MAX = 8192;
const SECTION = /^\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]/;

/**
 * Returns the last value of a key, such as `remote`, `origin`, `url`, in a text in git's config format. Returns null if the key
 * has no value, or one that is too long. Included files are not read.
 */
export function gitConfigValue(
  text: string,
  [section, subsection, key]: readonly [section: string, subsection: string | null, key: string],
): string | null {
  let inside = false;
  let found: string | null = null;
  for (const line of logicalLines(text)) {
    const head = SECTION.exec(line);
    if (head !== null) inside = head[1]?.toLowerCase() === section && unescaped(head[2]) === subsection;
    const rest = head === null ? line : line.slice(head[0].length);
    const [, name = '', value] = /^\s*([A-Za-z][A-Za-z0-9-]*)\s*(?:=(.*))?$/s.exec(rest) ?? [];
    if (inside && name.toLowerCase() === key && value !== undefined) found = value;
  }
  return found === null || found.length > VALUE_LENGTH_MAX ? null : textOf(found);
}

/** Splits a text into lines. A line that ends in a backslash is joined with the next one. */
function logicalLines(text: string): string[] {
  return text
    .replace(/\r\n/g, '\n')
    .replace(/(?<!\\)((?:\\\\)*)\\\n/g, '$1')
    .split('\n')
    .map((line) => line.trimStart());
}

function unescaped(subsection: string | undefined): string | null {
  return subsection?.replace(/\\(.)/g, '$1') ?? null;
}

/** Removes quotes, escapes, the comment, and unquoted blanks around the value. */
function textOf(text: string): string {
  let value = '';
  let kept = 0;
  let quoted = false;
  for (const [part] of text.trimStart().matchAll(/\\.|[^\\]/gs)) {
    if (part === '"') quoted = !quoted;
    else if (!quoted && (part === '#' || part === ';')) break;
    else value += part.startsWith('\\') ? (ESCAPES[part.slice(1)] ?? part.slice(1)) : part;
    if (quoted || !/^\s$/.test(part)) kept = value.length;
  }
  return value.slice(0, kept);
}
