import type { EventLoopYield } from '../event-loop-yield.ts';
import { jsonPieces } from './json-pieces.ts';

/** The characters of one part: building a part of ordinary values takes about a millisecond. */
const PART_CHARS = 256 * 1024;

/** A JSON text in parts of bytes, which may be longer than a string can be. */
export class JsonText {
  readonly parts: readonly Buffer[];
  /** The length in bytes. */
  readonly length: number;

  constructor(parts: readonly Buffer[]) {
    this.parts = parts;
    this.length = parts.reduce((sum, part) => sum + part.length, 0);
  }

  /** Whether the texts are the same, however they are divided. */
  equals(other: JsonText): boolean {
    if (this.length !== other.length) return false;
    const others = other.parts.values();
    let rest: Buffer = Buffer.alloc(0);
    for (let part of this.parts)
      while (part.length > 0) {
        if (rest.length === 0) rest = others.next().value ?? part;
        const length = Math.min(part.length, rest.length);
        if (!part.subarray(0, length).equals(rest.subarray(0, length))) return false;
        part = part.subarray(length);
        rest = rest.subarray(length);
      }
    return true;
  }

  toString(): string {
    return Buffer.concat(this.parts).toString();
  }
}

/**
 * Builds the JSON text of plain data, as JSON.stringify does, and lets other work run in between.
 */
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

  /**
   * Adds text that is part of the JSON text. Returns a promise only if other work has to run now.
   */
  write(text: string): Promise<void> | null {
    // The last text stays, so that `reopen` can change it.
    const isFull = this.#text.length >= PART_CHARS;
    if (isFull) {
      this.#parts.push(Buffer.from(this.#text));
      this.#text = '';
    }
    this.#text += text;
    return isFull ? this.#pace.worked(1) : null;
  }

  /**
   * Adds the JSON text of a value, as JSON.stringify makes it. Returns a promise only if it has to
   * wait.
   */
  add(value: unknown): Promise<void> | null {
    if (value === undefined) return this.write('null');
    const pieces = jsonPieces(value);
    for (let piece = pieces.next(); !piece.done; piece = pieces.next()) {
      const wait = this.write(piece.value);
      if (wait !== null) return wait.then(() => this.#addRest(pieces));
    }
    return null;
  }

  /**
   * Removes the brace that ends the object that was added last, so that members can be written
   * after it.
   */
  reopen(): void {
    this.#text = this.#text.slice(0, -1);
  }

  /** Makes the bytes of the text so far, to which more will be written. */
  encode(): void {
    this.#parts.push(Buffer.from(this.#text));
    this.#text = '';
  }

  end(): JsonText {
    if (this.#text !== '') this.encode();
    const text = new JsonText(this.#parts);
    return text.length > PART_CHARS ? text : new JsonText([Buffer.concat(this.#parts)]);
  }

  async #addRest(pieces: Iterable<string>): Promise<void> {
    for (const piece of pieces) await this.write(piece);
  }
}
