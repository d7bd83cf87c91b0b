import type { EventLoopYield } from './event-loop-yield.ts';
import { jsonWeight } from './json-weight.ts';

/** The characters of one part: building a part of ordinary values takes about a millisecond. */
const PART_CHARS = 256 * 1024;
/** A lighter value is built at once, a longer string in pieces. */
const SMALL_WEIGHT = 32 * 1024;

/** A JSON text in parts of bytes, which may be longer than a string can be. */
export class JsonText {
  readonly parts: readonly Buffer[];
  /** The length in bytes. */
  readonly length: number;

  constructor(parts: readonly Buffer[]) {
    this.parts = parts;
    this.length = parts.reduce((sum, part) => sum + part.length, 0);
  }

  equals(other: JsonText): boolean {
    return this.parts.length === other.parts.length && this.parts.every((part, index) => part.equals(other.parts[index] as Buffer));
  }

  toString(): string {
    return Buffer.concat(this.parts).toString();
  }
}

/** Builds the JSON text of plain data, as JSON.stringify does, and lets other work run in between. */
export async function jsonText(value: unknown, pace: EventLoopYield): Promise<JsonText> {
  const builder = new JsonTextBuilder(pace);
  await builder.add(value);
  return builder.end();
}

/** Builds a JSON text in parts. */
export class JsonTextBuilder {
  readonly #pace: EventLoopYield;
  readonly #parts: Buffer[] = [];
  #text = '';

  constructor(pace: EventLoopYield) {
    this.#pace = pace;
  }

  /** Adds text that is part of the JSON text. Returns a promise only if other work has to run now. */
  write(text: string): Promise<void> | null {
    this.#text += text;
    if (this.#text.length < PART_CHARS) return null;
    this.#parts.push(Buffer.from(this.#text));
    this.#text = '';
    return this.#pace.worked(1);
  }

  /** Adds the JSON text of a value, as JSON.stringify makes it. Returns a promise only if it has to wait. */
  add(value: unknown): Promise<void> | null {
    if (typeof value === 'string' && value.length > SMALL_WEIGHT) return this.#addString(value);
    if (jsonWeight(value, SMALL_WEIGHT) <= SMALL_WEIGHT) return this.write(JSON.stringify(value) ?? 'null');
    return Array.isArray(value) ? this.#addArray(value) : this.#addObject(value as object);
  }

  /** Removes the brace that ends the object that was added last, so that members can be written after it. */
  reopen(): void {
    this.#text = this.#text.slice(0, -1);
  }

  end(): JsonText {
    if (this.#text !== '') this.#parts.push(Buffer.from(this.#text));
    return new JsonText(this.#parts);
  }

  async #addArray(elements: readonly unknown[]): Promise<void> {
    this.#text += '[';
    for (const [index, element] of elements.entries()) {
      if (index > 0) this.#text += ',';
      const wait = this.add(element);
      if (wait !== null) await wait;
    }
    this.#text += ']';
  }

  async #addObject(members: object): Promise<void> {
    let separator = '{';
    for (const [name, value] of Object.entries(members)) {
      if (value === undefined) continue;
      this.#text += `${separator}${JSON.stringify(name)}:`;
      separator = ',';
      const wait = this.add(value);
      if (wait !== null) await wait;
    }
    this.#text += separator === '{' ? '{}' : '}';
  }

  async #addString(text: string): Promise<void> {
    this.#text += '"';
    for (let start = 0; start < text.length; ) {
      const end = pieceEnd(text, start);
      const wait = this.write(JSON.stringify(text.slice(start, end)).slice(1, -1));
      if (wait !== null) await wait;
      start = end;
    }
    this.#text += '"';
  }
}

/** The end of a piece of a string, not between the two halves of a character. */
function pieceEnd(text: string, start: number): number {
  const end = Math.min(start + SMALL_WEIGHT, text.length);
  const code = text.charCodeAt(end - 1);
  return end < text.length && code >= 0xd800 && code <= 0xdbff ? end - 1 : end;
}
