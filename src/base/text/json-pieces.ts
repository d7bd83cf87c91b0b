import { walkJson } from '../json-value.ts';
import { textPieces } from './text-pieces.ts';

/** Text of about this length is made at once. */
const PIECE_CHARS = 64 * 1024;
/** Values that are nested more deeply count as short. */
const WEIGHED_DEPTH_MAX = 100;
const NUMBER_CHARS = 8;
/** Around a string, or between a key and its value. */
const MARKS_CHARS = 4;

/**
 * About how long the JSON text of a value is, in UTF-16 code units. Looks at no more of the value
 * once it is longer than `max`.
 */
export function jsonWeight(value: unknown, max = Number.POSITIVE_INFINITY): number {
  let weight = 0;
  walkJson(value, (part, key, depth, isElement) => {
    if (key !== null && !isElement) weight += key.length + MARKS_CHARS;
    const looksInto = typeof part === 'object' && part !== null && depth <= WEIGHED_DEPTH_MAX;
    if (typeof part === 'string') weight += part.length + MARKS_CHARS;
    else weight += looksInto ? MARKS_CHARS : NUMBER_CHARS;
    return weight > max ? null : looksInto;
  });
  return weight;
}

/**
 * The JSON text of plain data, in pieces that take about a millisecond each. Joined they are what
 * `JSON.stringify` makes. The data must not change meanwhile, and must not be undefined.
 */
export function* jsonPieces(value: unknown, depth = 0): Generator<string, void> {
  if (typeof value === 'string') yield* stringPieces(value);
  else if (
    typeof value !== 'object' ||
    value === null ||
    depth > WEIGHED_DEPTH_MAX ||
    jsonWeight(value, PIECE_CHARS) <= PIECE_CHARS
  ) {
    yield JSON.stringify(value);
  } else if (Array.isArray(value)) yield* arrayPieces(value, depth);
  else yield* objectPieces(value, depth);
}

function* stringPieces(text: string): Generator<string, void> {
  yield '"';
  // Half a surrogate pair would be escaped.
  for (const piece of textPieces(text, PIECE_CHARS)) yield JSON.stringify(piece).slice(1, -1);
  yield '"';
}

function* arrayPieces(values: readonly unknown[], depth: number): Generator<string, void> {
  let mark = '[';
  let short: unknown[] = [];
  let weight = 0;
  for (let index = 0; index <= values.length; index++) {
    const value = values[index];
    const added = index < values.length ? jsonWeight(value, PIECE_CHARS) : 0;
    if (short.length > 0 && (weight + added > PIECE_CHARS || index === values.length)) {
      yield mark + JSON.stringify(short).slice(1, -1);
      mark = ',';
      short = [];
      weight = 0;
    }
    if (added > PIECE_CHARS) {
      yield mark;
      yield* jsonPieces(value, depth + 1);
      mark = ',';
    } else if (index < values.length) {
      short.push(value);
      weight += added;
    }
  }
  yield ']';
}

function* objectPieces(value: object, depth: number): Generator<string, void> {
  let mark = '{';
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue;
    yield `${mark}${JSON.stringify(key)}:`;
    mark = ',';
    yield* jsonPieces(member, depth + 1);
  }
  yield mark === '{' ? '{}' : '}';
}
