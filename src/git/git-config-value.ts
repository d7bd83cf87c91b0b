const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', b: '\b', '\\': '\\', '"': '"' };
const SECTION = /^\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]/;

/**
 * The last value that a text in git's format of configuration gives a key, such as `remote`, `origin`, `url`; null where it
 * gives none. Other files that it names are not read.
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
    if (inside && name.toLowerCase() === key && value !== undefined) found = textOf(value);
  }
  return found;
}

/** A backslash at the end of a line takes the next one to it. */
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

/** Without its quotes, escapes and comment, and without the blanks around it that are not quoted. */
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
