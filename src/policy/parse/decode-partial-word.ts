import type { Node } from 'web-tree-sitter';

/** Stands for text that only the shell knows, such as the result of an expansion or a pattern. */
const ANYTHING = '\0';

/**
 * Stands for the names that `find -exec` and others fill in. Like all uncertain text, it begins and
 * ends with `\0`.
 */
const FOUND_NAME = `${ANYTHING}{}${ANYTHING}`;

/**
 * Returns a word as far as its text is certain, with `\0` for each other part. For rules that
 * forbid.
 */
export function decodePartialWord(node: Node): string {
  switch (node.type) {
    case 'word':
    case 'number':
    case 'variable_name':
      return isFoundName(node.text) ? FOUND_NAME : bare(node.text);
    case 'raw_string':
      return node.text.slice(1, -1);
    case 'ansi_c_string':
      return ansi(node.text.slice(2, -1));
    case 'string':
      return quoted(node);
    case 'command_name':
    case 'concatenation':
      if (isFoundName(node.text)) return FOUND_NAME;
      return node.children.map(decodePartialWord).join('');
    default:
      return ANYTHING;
  }
}

/** Also in words that were decoded before and joined to a script. */
function isFoundName(text: string): boolean {
  return text === '{}' || text === FOUND_NAME;
}

function bare(text: string): string {
  return text
    .replace(/\\\n/g, '')
    .replace(/\\(.)|[*?[\]{}]|^~[^/]*/gs, (_match, escaped?: string) => escaped ?? ANYTHING);
}

function quoted(node: Node): string {
  let decoded = '';
  let end = node.startIndex + 1;
  const plain = (from: number, to: number) =>
    node.text
      .slice(from - node.startIndex, to - node.startIndex)
      .replace(/\\([$`"\\\n])/g, (_match, escaped: string) => (escaped === '\n' ? '' : escaped));
  for (const part of node.namedChildren) {
    if (part.type === 'string_content') continue;
    decoded += plain(end, part.startIndex) + ANYTHING;
    end = part.endIndex;
  }
  return decoded + plain(end, node.endIndex - 1);
}

const ANSI_ESCAPE =
  /\\(?:x([\da-f]{1,2})|u([\da-f]{1,4})|U([\da-f]{1,8})|([0-7]{1,3})|c(.)|(.))/gis;
const ANSI_LETTERS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    n: '\n',
    t: '\t',
    r: '\r',
    a: '\x07',
    b: '\b',
    e: '\x1b',
    E: '\x1b',
    f: '\f',
    v: '\v',
  }),
);

function ansi(text: string): string {
  return text.replace(ANSI_ESCAPE, (match: string, ...groups: (string | undefined)[]) => {
    const [hex, unicode, longUnicode, octal, control, letter] = groups;
    const digits = hex ?? unicode ?? longUnicode;
    const code =
      digits === undefined ? Number.parseInt(octal ?? '', 8) : Number.parseInt(digits, 16);
    if (control !== undefined || code === 0 || code > 0x10ffff) return ANYTHING;
    if (Number.isNaN(code))
      return letter === undefined ? match : (ANSI_LETTERS.get(letter) ?? letter);
    return String.fromCodePoint(code);
  });
}
