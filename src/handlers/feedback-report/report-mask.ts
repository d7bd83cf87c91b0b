import { EventLoopYield } from '../../base/event-loop-yield.ts';
import { inSlices } from '../../base/in-slices.ts';
import { LEFT_OUT, mapJson, mapStrings } from '../../base/json-value.ts';
import { cutText } from '../../base/text/cut-text.ts';
import { redact } from '../../secrets/redact.ts';

/** The longest string in a report, apart from attached texts. */
const STRING_CHARS_MAX = 4 * 1024;
/**
 * A longer string is masked with so much of its rest. If that is cut, so much is then left out: it
 * can have the beginning of a secret.
 */
const MARGIN_CHARS = 4 * 1024;
/** Ends a string that was cut before it was masked. It is no part of a secret. */
const CUT = '\n\0cut\0';
/** The most of a value that is shown, so that it is masked in some milliseconds. */
const VALUE_CHARS_MAX = 32 * 1024;
/** The least that a part of a value counts. */
const PART_CHARS_MIN = 64;
/** Attached text is masked in pieces of about this length. */
const PIECE_CHARS = 16 * 1024;
/** A key that is longer than this is none. */
const KEY_CHARS_MAX = 16 * 1024;
/** So many characters count as one unit of work for `EventLoopYield`. */
const CHARS_A_UNIT = 10;

/** Hides secrets in the parts of a report, a few milliseconds at a time. */
export class ReportMask {
  readonly #redact: (value: unknown) => unknown;
  readonly #secrets: readonly string[];
  readonly #breaks = new EventLoopYield();

  /** `redact` masks a JSON value, `secrets` among others: the known ones, the longest first. */
  constructor(redact: (value: unknown) => unknown, secrets: readonly string[]) {
    this.#redact = redact;
    this.#secrets = secrets;
  }

  /** The value with short strings, and without the parts that are too much. */
  async value(value: unknown): Promise<unknown> {
    return (await this.values([value]))[0];
  }

  async values(values: readonly unknown[]): Promise<unknown[]> {
    const shown = [];
    let room = { chars: VALUE_CHARS_MAX };
    const units = () => (VALUE_CHARS_MAX - room.chars) / CHARS_A_UNIT;
    for await (const value of inSlices(values, units, this.#breaks)) {
      room = { chars: VALUE_CHARS_MAX };
      const masked = this.#redact(bounded(value, room));
      shown.push(mapStrings(masked, shortened, { mapKey: shortened }));
    }
    return shown;
  }

  /** The whole text. */
  async text(text: string): Promise<string> {
    let shown = '';
    for await (const piece of inSlices(
      pieces(redact(text, this.#secrets)),
      (piece) => piece.length / CHARS_A_UNIT,
      this.#breaks,
    ))
      shown += String(this.#redact(piece));
    return shown;
  }
}

/**
 * A copy of the first parts of a value: as many as there is room for. Strings that are too long end
 * with CUT.
 */
function bounded(value: unknown, room: { chars: number }): unknown {
  const take = (text: string) => {
    room.chars -= Math.min(text.length, STRING_CHARS_MAX + MARGIN_CHARS);
  };
  return mapJson(
    value,
    (part, key) => {
      if (room.chars <= 0) return LEFT_OUT;
      room.chars -= PART_CHARS_MIN;
      if (typeof key === 'string') take(key);
      if (typeof part !== 'string') return part === undefined ? null : undefined;
      take(part);
      return cutWithMargin(part);
    },
    { mapKey: cutWithMargin, restMark: '… more is left out' },
  );
}

function cutWithMargin(text: string): string {
  const part = text.slice(0, STRING_CHARS_MAX + MARGIN_CHARS);
  return part.length < text.length ? part + CUT : part;
}

/** The beginning of a masked string. Without the margin of one that was cut before. */
function shortened(text: string): string {
  const isCut = text.endsWith(CUT);
  const safe = isCut ? text.slice(0, Math.max(0, text.length - CUT.length - MARGIN_CHARS)) : text;
  return isCut || safe.length > STRING_CHARS_MAX ? `${cutText(safe, STRING_CHARS_MAX)}…` : safe;
}

/**
 * A text in pieces that divide no secret: they end at ends of lines, or of parts of a long line,
 * and not in a private key.
 */
function pieces(text: string): string[] {
  const all: string[] = [];
  for (let start = 0; start < text.length; ) {
    const end = pieceEnd(text, start);
    all.push(text.slice(start, end));
    start = end;
  }
  return all;
}

function pieceEnd(text: string, start: number): number {
  const least = start + PIECE_CHARS;
  if (least >= text.length) return text.length;
  const end = lineEnd(text, least);
  const piece = text.slice(start, end);
  const key = piece.lastIndexOf('-----BEGIN ');
  if (
    key === -1 ||
    !/^-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(piece.slice(key)) ||
    piece.includes('-----END ', key)
  )
    return end;
  const keyEnd = text.indexOf('-----END ', start + key);
  return keyEnd === -1 || keyEnd > start + key + KEY_CHARS_MAX ? end : lineEnd(text, keyEnd);
}

/** The end of the line at this place, or of a part of it if it is long. */
function lineEnd(text: string, from: number): number {
  const rest = text.slice(from, from + PIECE_CHARS);
  const end = [/\n/, /[,;}\]]/, /\s/]
    .map((pattern) => rest.search(pattern))
    .find((found) => found !== -1);
  return Math.min(text.length, from + (end === undefined ? rest.length : end + 1));
}
