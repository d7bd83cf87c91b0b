/** A text as parts: of the text before, from one index to another, and new ones. */
export type TextChange = (string | [from: number, to: number])[];

/** The length of the piece of the new text that is looked for in the old one. */
const PROBE_CHARS = 48;

/**
 * Returns how `after` can be made of `before`. It is short if text was inserted or replaced at one
 * place, and also if the beginning of what lies between two such places was cut off, as in the
 * output of a command whose middle is left out.
 */
export function textChange(before: string, after: string): TextChange {
  const start = commonStart(before, after);
  const end = commonEnd(before, after, start);
  const [oldEnd, newEnd] = [before.length - end, after.length - end];
  const kept = keptPart(before.slice(start, oldEnd), after.slice(start, newEnd));
  const middle: TextChange =
    kept === null
      ? [after.slice(start, newEnd)]
      : [
          after.slice(start, start + kept.at),
          [start + kept.from, start + kept.from + kept.length],
          after.slice(start + kept.at + kept.length, newEnd),
        ];
  const parts: TextChange = [[0, start], ...middle, [oldEnd, before.length]];
  return parts.filter((part) => (typeof part === 'string' ? part !== '' : part[0] < part[1]));
}

/** Returns the changed text. */
export function changedText(before: string, change: TextChange): string {
  return change
    .map((part) => (typeof part === 'string' ? part : before.slice(part[0], part[1])))
    .join('');
}

/** Whether a value that was stored is a change of a text of this length. */
export function isTextChange(value: unknown, length: number): value is TextChange {
  return (
    Array.isArray(value) && value.every((part) => typeof part === 'string' || isRange(part, length))
  );
}

function isRange(part: unknown, length: number): boolean {
  if (!Array.isArray(part) || part.length !== 2) return false;
  const [from, to] = part as unknown[];
  return (
    Number.isInteger(from) &&
    Number.isInteger(to) &&
    Number(from) >= 0 &&
    Number(from) <= Number(to) &&
    Number(to) <= length
  );
}

/**
 * Finds a long piece of the new text in the old one: its index in both, and its length. Null if
 * there is none.
 */
function keptPart(
  before: string,
  after: string,
): { from: number; at: number; length: number } | null {
  for (
    let tried = PROBE_CHARS;
    tried + PROBE_CHARS <= after.length && tried <= 4 * PROBE_CHARS;
    tried += PROBE_CHARS
  ) {
    const found = before.indexOf(after.slice(tried, tried + PROBE_CHARS));
    if (found === -1) continue;
    let back = 0;
    while (
      back < Math.min(found, tried) &&
      before.charCodeAt(found - back - 1) === after.charCodeAt(tried - back - 1)
    )
      back++;
    const [from, at] = [found - back, tried - back];
    return { from, at, length: commonStart(before.slice(from), after.slice(at)) };
  }
  return null;
}

function commonStart(one: string, other: string): number {
  const end = Math.min(one.length, other.length);
  let length = 0;
  while (length < end && one.charCodeAt(length) === other.charCodeAt(length)) length++;
  return length;
}

function commonEnd(one: string, other: string, start: number): number {
  const end = Math.min(one.length, other.length) - start;
  let length = 0;
  while (
    length < end &&
    one.charCodeAt(one.length - 1 - length) === other.charCodeAt(other.length - 1 - length)
  )
    length++;
  return length;
}
