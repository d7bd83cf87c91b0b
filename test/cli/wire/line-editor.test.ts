import { once } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LineEditor } from '../../../src/cli/wire/line-editor.ts';

const COLUMNS = 20;

/** A terminal that knows the escape sequences of readline, with as many lines as it is given. */
class Screen extends Writable {
  readonly columns = COLUMNS;
  readonly #rows: string[][] = [[]];
  #row = 0;
  #column = 0;

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the sequences.
    const tokens = chunk.toString().matchAll(/\x1b\[(\d*)([A-Z])|[\s\S]/g);
    for (const [token, number = '', command] of tokens) this.#take(token, number, command);
    done();
  }

  /** The rows to the last one that is not empty. */
  get text(): string {
    return this.#rows
      .map((row) => row.join('').trimEnd())
      .join('\n')
      .trimEnd();
  }

  #take(token: string, number: string, command: string | undefined): void {
    const count = Number(number || '1');
    if (command === 'A') this.#row = Math.max(0, this.#row - count);
    else if (command === 'G') this.#column = count - 1;
    else if (command === 'C') this.#column += count;
    else if (command === 'D') this.#column = Math.max(0, this.#column - count);
    else if (command === 'J') {
      this.#rows.length = this.#row + 1;
      this.#rows[this.#row]?.splice(this.#column);
    } else if (command !== undefined) throw new Error(`unknown: ${JSON.stringify(token)}`);
    else if (token === '\r') this.#column = 0;
    else if (token === '\n') this.#down();
    else this.#put(token);
  }

  #put(character: string): void {
    if (this.#column >= COLUMNS) this.#down();
    const row = this.#rows[this.#row] ?? [];
    while (row.length < this.#column) row.push(' ');
    row[this.#column++] = character;
  }

  #down(): void {
    this.#row++;
    this.#column = 0;
    while (this.#rows.length <= this.#row) this.#rows.push([]);
  }
}

/** The rows that a text takes. */
const wrapped = (text: string) => text.match(new RegExp(`.{1,${COLUMNS}}`, 'g')) ?? [];

type Step =
  | { typed: string }
  | { pasted: string }
  | { printed: string }
  | { key: '\x1b[D' | '\x7f' };

/** Does the steps, and then gives the screen and the line. */
async function edit(steps: readonly Step[]): Promise<{ text: string; expected: string }> {
  const [input, output] = [new PassThrough(), new Screen()];
  const editor = new LineEditor({
    input,
    output,
    isDumb: false,
    complete: () => [[], ''],
    onInterrupt: () => {},
  });
  const lines = editor.lines();
  const first = lines.next();
  const printed: string[] = [];
  const give = async (text: string) => {
    if (text === '') return;
    const read = once(input, 'data');
    input.write(text);
    await read;
  };
  for (const step of steps) {
    if ('key' in step) await give(step.key);
    if ('pasted' in step) await give(step.pasted);
    if ('typed' in step) for (const character of step.typed) await give(character);
    if (!('printed' in step)) continue;
    editor.print(`${step.printed}\n`);
    printed.push(step.printed);
    await Promise.resolve();
  }
  const before = output.text;
  input.end('\r');
  const { value } = await first;
  return {
    text: before,
    expected: [...printed, ...wrapped(`> ${value}`)]
      .map((row) => row.trimEnd())
      .join('\n')
      .trimEnd(),
  };
}

test('what is printed stands above the line, which is whole, however long it is and however it was typed', async () => {
  // Most of them end at the last column of a row, or beside it.
  const text = fc
    .constantFrom(1, 2, 5, 17, 18, 19, 20, 21, 38, 39, 58)
    .map((length) => 'abcdefghij'.repeat(6).slice(0, length));
  const row = fc.string({ unit: fc.constantFrom('m', 'n'), minLength: 1, maxLength: COLUMNS - 1 });
  const typed = text.map((typed): Step => ({ typed }));
  const printed = row.map((printed): Step => ({ printed }));
  const key = fc.constantFrom<'\x1b[D' | '\x7f'>('\x1b[D', '\x7f').map((key): Step => ({ key }));
  // In the middle of a line, Node itself draws it wrongly.
  const pasted = text.map((pasted): Step => ({ pasted }));
  const steps = (...kinds: fc.Arbitrary<Step>[]) => fc.array(fc.oneof(...kinds), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(steps(typed, printed, key), steps(typed, printed, pasted)),
      async (all) => {
        const { text: shown, expected } = await edit(all);
        expect(shown).toBe(expected);
      },
    ),
    { numRuns: 300 },
  );
});
