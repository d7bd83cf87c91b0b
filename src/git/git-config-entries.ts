const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', b: '\b', '\\': '\\', '"': '"' };
/** A longer value counts as none. No path or address is longer. */
const VALUE_LENGTH_MAX = 8192;
const SECTION = /^\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]/;
const VARIABLE = /^\s*([A-Za-z][A-Za-z0-9-]*)\s*(?:=(.*))?$/s;

/** A setting in a file in git's config format. Section and key are in lower case. */
export interface GitConfigEntry {
  section: string;
  /** Null: the section has none. */
  subsection: string | null;
  key: string;
  /** Null: the key stands alone, which means true, or the value is too long to mean anything. */
  value: string | null;
}

/** Returns the settings in a text in git's config format, in their order, and whether every line of it was understood. */
export function gitConfigEntries(text: string): { entries: GitConfigEntry[]; isUnderstood: boolean } {
  const entries: GitConfigEntry[] = [];
  let isUnderstood = true;
  let inside: Pick<GitConfigEntry, 'section' | 'subsection'> | null = null;
  for (const line of logicalLines(text)) {
    let rest = line;
    for (let head = SECTION.exec(rest); head !== null; head = SECTION.exec(rest)) {
      inside = sectionOf(head);
      rest = rest.slice(head[0].length).trimStart();
    }
    const [, key, value] = VARIABLE.exec(rest) ?? [];
    if (inside === null || key === undefined) {
      isUnderstood &&= /^\s*(?:[#;]|$)/.test(rest);
      continue;
    }
    const isLong = value !== undefined && value.length > VALUE_LENGTH_MAX;
    isUnderstood &&= !isLong;
    entries.push({ ...inside, key: key.toLowerCase(), value: value === undefined || isLong ? null : textOf(value) });
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

/** Reads the head of a section. An older form is `[section.subsection]`. */
function sectionOf([, name = '', quoted]: readonly string[]): Pick<GitConfigEntry, 'section' | 'subsection'> {
  const lower = name.toLowerCase();
  const dot = lower.indexOf('.');
  if (quoted !== undefined || dot === -1) return { section: lower, subsection: unescaped(quoted) };
  return { section: lower.slice(0, dot), subsection: lower.slice(dot + 1) };
}

function unescaped(subsection: string | undefined): string | null {
  return subsection?.replace(/\\(.)/g, '$1') ?? null;
}

/** Removes quotes, escapes, the comment, and unquoted blanks around the value. */
function textOf(text: string): string {
  let value = '';
  let kept = 0;
  let quoted = false;
  for (const [part] of text.trimStart().matchAll(/\\.|["#;]|[^\\"#;]+/gs)) {
    if (part === '"') quoted = !quoted;
    else if (!quoted && (part === '#' || part === ';')) break;
    else value += part.startsWith('\\') ? (ESCAPES[part.slice(1)] ?? part.slice(1)) : part;
    if (quoted || part.startsWith('\\') || part === '"') kept = value.length;
    else if (part.trimEnd() !== '') kept = value.trimEnd().length;
  }
  return value.slice(0, kept);
}
