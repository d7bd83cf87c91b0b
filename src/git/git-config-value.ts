const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', b: '\b', '\\': '\\', '"': '"' };
const SECTION = /^\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]/;

/** One setting of a text in git's config format. */
export interface GitConfigEntry {
  /** In lower case. */
  section: string;
  /** As it is written. Null: the section has none. */
  subsection: string | null;
  /** In lower case. */
  key: string;
  /** Null: the key stands without a value, which means true. */
  value: string | null;
}

/**
 * Returns the last value of a key, such as `remote`, `origin`, `url`, in a text in git's config format. Returns null if the key
 * has no value. Included files are not read.
 */
export function gitConfigValue(
  text: string,
  [section, subsection, key]: readonly [section: string, subsection: string | null, key: string],
): string | null {
  const values = gitConfigEntries(text).entries.filter(
    (entry) => entry.section === section && entry.subsection === subsection && entry.key === key && entry.value !== null,
  );
  return values.at(-1)?.value ?? null;
}

/** Returns all settings in a text in git's config format, in order, and whether every line of it was understood. */
export function gitConfigEntries(text: string): { entries: GitConfigEntry[]; isUnderstood: boolean } {
  const entries: GitConfigEntry[] = [];
  let isUnderstood = true;
  let inside: Pick<GitConfigEntry, 'section' | 'subsection'> | null = null;
  for (const line of logicalLines(text)) {
    const head = SECTION.exec(line);
    if (head !== null) inside = { section: head[1]?.toLowerCase() ?? '', subsection: unescaped(head[2]) };
    const rest = head === null ? line : line.slice(head[0].length);
    const [, name, value] = /^\s*([A-Za-z][A-Za-z0-9-]*)\s*(?:=(.*))?$/s.exec(rest) ?? [];
    if (name === undefined || inside === null) isUnderstood &&= /^\s*(?:[#;]|$)/.test(rest);
    else entries.push({ ...inside, key: name.toLowerCase(), value: value === undefined ? null : textOf(value) });
  }
  return { entries, isUnderstood };
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
