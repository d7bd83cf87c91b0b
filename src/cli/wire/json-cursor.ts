import { parsedJson } from '../../base/json-value.ts';

/** The place at the end of JSON text that is not complete. */
export interface JsonCursor {
  /**
   * The way to the value that is typed, or to the object whose field is named. Null: an element of
   * a list.
   */
  path: (string | null)[];
  expects: 'name' | 'value';
  /** The part of the name or value that is typed already, as JSON text. */
  typed: string;
  /** The names that the object has already. */
  names: string[];
}

type Expected = 'name' | 'colon' | 'value' | 'comma';

interface Open {
  kind: '{' | '[';
  names: string[];
  expected: Expected;
}

const MARK = /^[{}[\],:]$/;
const TOKEN = /[ \t]*(?:("(?:[^"\\]|\\.)*(?:"|\\?$))|([{}[\],:])|([^\s"{}[\],:]+))/y;

/**
 * Returns the place where the text ends. Null: nothing that can be completed goes there, or the
 * text is not the beginning of JSON.
 */
export function jsonCursor(text: string): JsonCursor | null {
  const open: Open[] = [{ kind: '[', names: [], expected: 'value' }];
  let typed = '';
  for (const token of tokensIn(text)) {
    const inner = open.at(-1);
    if (token === null || inner === undefined) return null;
    if (token.isTyped) typed = token.text;
    else if (
      !(MARK.test(token.text) ? takeMark(token.text, inner, open) : takeWhole(token.text, inner))
    )
      return null;
  }
  const inner = open.at(-1);
  if (inner === undefined || (inner.expected !== 'name' && inner.expected !== 'value')) return null;
  return {
    path: pathTo(open, inner),
    expects: inner.expected,
    typed,
    names: inner.kind === '{' ? inner.names : [],
  };
}

/** The tokens of JSON. `isTyped`: the last one may go on. Null: something else, which ends them. */
function* tokensIn(text: string): Generator<{ text: string; isTyped: boolean } | null> {
  const end = text.trimEnd().length;
  for (let at = 0; at < end; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at;
    const [, string, mark, word] = TOKEN.exec(text) ?? [];
    const token = string ?? mark ?? word;
    if (token === undefined) return yield null;
    const isTyped =
      TOKEN.lastIndex === text.length &&
      mark === undefined &&
      (word !== undefined || parsedJson(token) === undefined);
    yield { text: token, isTyped };
  }
}

function takeMark(mark: string, inner: Open, open: Open[]): boolean {
  switch (mark) {
    case '{':
    case '[':
      open.push({ kind: mark, names: [], expected: mark === '{' ? 'name' : 'value' });
      return move(inner, 'value', 'comma');
    case ':':
      return move(inner, 'colon', 'value');
    case ',':
      return move(inner, 'comma', inner.kind === '{' ? 'name' : 'value');
    default:
      open.pop();
      return open.length > 0 && inner.kind === (mark === '}' ? '{' : '[');
  }
}

/** Goes on from one part to the next. Returns false if another part is expected. */
function move(inner: Open, from: Expected, to: Expected): boolean {
  const isRight = inner.expected === from;
  inner.expected = to;
  return isRight;
}

function takeWhole(text: string, inner: Open): boolean {
  if (inner.expected === 'value') inner.expected = 'comma';
  else if (inner.expected === 'name' && text.startsWith('"')) {
    inner.names.push(String(parsedJson(text)));
    inner.expected = 'colon';
  } else return false;
  return true;
}

/** The way from the outermost value. The first of `open` stands for the text itself. */
function pathTo(open: readonly Open[], inner: Open): (string | null)[] {
  const steps = open
    .slice(1)
    .map(({ kind, names }) => (kind === '[' ? null : (names.at(-1) ?? '')));
  return inner.kind === '{' && inner.expected === 'name' ? steps.slice(0, -1) : steps;
}
