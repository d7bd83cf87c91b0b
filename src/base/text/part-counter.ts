const QUOTE = 0x22;
const COLON = 0x3a;
const BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const BRACE = 0x7b;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/**
 * Counts the objects, arrays and members of JSON that comes in pieces of text. The texts between
 * lines of JSON count little.
 */
export class PartCounter {
  #count = 0;
  #isInString = false;
  /** The last character was a backslash in a string. */
  #isEscaped = false;

  /** Returns the number so far. */
  add(text: string): number {
    for (let index = 0; index < text.length; index++) this.#take(text.charCodeAt(index));
    return this.#count;
  }

  #take(code: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (code === QUOTE) this.#isInString = !this.#isInString;
    // A line end cannot be in a string, but a quotation mark can be before one, outside of JSON.
    else if (code === LINE_FEED || code === CARRIAGE_RETURN) this.#isInString = false;
    else if (this.#isInString) this.#isEscaped = code === BACKSLASH;
    else if (code === BRACKET || code === BRACE || code === COLON) this.#count++;
  }
}
