import { clearScreenDown, cursorTo, moveCursor } from 'node:readline';
import { createInterface, type Interface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';

const PROMPT = '> ';
const HISTORY_LINES = 500;

export interface EditorOptions {
  input: Readable;
  output: Writable;
  /** Whether the terminal cannot move its cursor. */
  isDumb: boolean;
  complete(line: string): [string[], string];
  /** Ctrl-C while nothing is typed. */
  onInterrupt(): void;
}

/**
 * The line at the bottom of a terminal in which a person types, with a history. Everything else is
 * printed above it.
 */
export class LineEditor {
  readonly #terminal: Interface;
  readonly #output: Writable;
  readonly #isDumb: boolean;
  /** Whether the line is shown. */
  #isShown = false;
  /** From then on Node refuses to show the line. */
  #isClosed = false;
  /** The text to print in one go: each time, the line is drawn anew. */
  #waiting = '';

  constructor({ input, output, isDumb, complete, onInterrupt }: EditorOptions) {
    this.#output = output;
    this.#isDumb = isDumb;
    this.#terminal = createInterface({
      ...{
        input,
        output,
        terminal: true,
        prompt: PROMPT,
        historySize: HISTORY_LINES,
        removeHistoryDuplicates: true,
      },
      completer: complete,
    });
    input.on('error', () => this.#terminal.close());
    input.on('keypress', () => this.#countRows());
    this.#terminal.on('close', () => this.#leaveLine());
    this.#terminal.on('SIGINT', () => (this.#terminal.line === '' ? onInterrupt() : this.#clear()));
  }

  /** The lines that are typed, until the input ends or `close` is called. */
  async *lines(): AsyncGenerator<string> {
    this.#prompt();
    for await (const line of this.#terminal) {
      this.#isShown = false;
      yield line;
      this.#prompt();
    }
    this.#flush();
  }

  print(text: string): void {
    if (this.#waiting === '') queueMicrotask(() => this.#flush());
    this.#waiting += text;
  }

  close(): void {
    this.#terminal.close();
  }

  #leaveLine(): void {
    this.#isClosed = true;
    if (this.#isShown) this.#output.write('\n');
    this.#isShown = false;
  }

  #prompt(): void {
    this.#flush();
    if (this.#isClosed) return;
    this.#isShown = true;
    this.#terminal.prompt();
  }

  #flush(): void {
    const text = this.#waiting;
    this.#waiting = '';
    if (text === '') return;
    if (!this.#isShown) this.#output.write(text);
    else if (this.#isDumb) {
      this.#output.write(`\n${text}`);
      this.#terminal.prompt(true);
      this.#output.write(this.#terminal.line);
    } else this.#printAbove(text);
  }

  /**
   * Node does not count the rows of what is pasted. It goes up by so many rows before it draws the
   * line again.
   */
  #countRows(): void {
    const terminal: Interface & { prevRows?: number } = this.#terminal;
    terminal.prevRows = terminal.getCursorPos().rows;
  }

  #printAbove(text: string): void {
    const { rows } = this.#terminal.getCursorPos();
    moveCursor(this.#output, 0, -rows);
    cursorTo(this.#output, 0);
    clearScreenDown(this.#output);
    // To draw the line, Node first goes up by the rows that it takes.
    this.#output.write(`${text}${'\n'.repeat(rows)}`);
    this.#terminal.prompt(true);
  }

  #clear(): void {
    this.#terminal.write(null, { ctrl: true, name: 'e' });
    this.#terminal.write(null, { ctrl: true, name: 'u' });
  }
}
