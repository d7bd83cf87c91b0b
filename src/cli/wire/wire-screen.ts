import { cutText } from '../../base/text/cut-text.ts';
import { showJsonLine, showText } from '../../base/text/show-text.ts';
import type { WireMessage } from '../../client/client-options.ts';
import type { Output } from '../exec/screen.ts';
import { textColumns } from '../terminal/columns-of.ts';
import { type Color, painter } from '../terminal/painter.ts';
import type { LineEditor } from './line-editor.ts';

export interface WireScreenOptions {
  stdout: Output;
  stderr: Output;
  env: Readonly<Record<string, string | undefined>>;
  /** Whether long messages are shown in full. */
  whole: boolean;
}

/** The lines of a terminal that a message takes at most, with its mark. */
const MESSAGE_LINES_MAX = 6;
const MARK_CHARS = 30;
/**
 * Longer messages have no colors in them: the pattern needs a stack as deep as the longest string.
 */
const COLORED_CHARS_MAX = 64 * 1024;

/** Strings of JSON, with the colon after the name of a field. */
const STRING = /("(?:[^"\\]|\\.)*")(:?)/g;

/**
 * Shows a session. A terminal gets the messages of both directions, in colors and harmless. If
 * stdout is no terminal, it gets the messages of the server as they are, and notes go to stderr.
 */
export class WireScreen {
  /** Whether a person reads the messages. */
  readonly isTerminal: boolean;
  readonly notesToTerminal: boolean;
  readonly #options: WireScreenOptions;
  readonly #paint: (color: Color, text: string) => string;
  /** The line that a person edits at the terminal. Null: none does. */
  #editor: LineEditor | null = null;

  constructor(options: WireScreenOptions) {
    const { stdout, stderr, env } = options;
    this.#options = options;
    this.isTerminal = stdout.isTTY === true;
    this.notesToTerminal = stderr.isTTY === true;
    this.#paint = painter([stdout, stderr], env);
  }

  /** From now on, everything for the terminal is printed above this line. */
  attach(editor: LineEditor | null): void {
    this.#editor = editor;
  }

  message(message: WireMessage): void {
    const { stdout } = this.#options;
    if (this.isTerminal) this.#print(stdout, this.#shown(message));
    else if (message.direction === 'received') stdout.write(`${message.line}\n`);
  }

  /** Prints lines for a person. */
  note(...lines: string[]): void {
    this.#print(this.#options.stderr, lines.map((line) => `${showText(line)}\n`).join(''));
  }

  /** Prints why something has not worked. */
  problem(text: string): void {
    const shown = `heddle: ${showText(text)}`;
    this.#print(
      this.#options.stderr,
      `${this.notesToTerminal ? this.#paint('red', shown) : shown}\n`,
    );
  }

  /** Prints a message in full, on lines of its own for each field. */
  full(message: unknown): void {
    const text = showJsonLine(JSON.stringify(message, null, 2));
    this.#print(
      this.#options.stderr,
      `${this.#editor !== null || this.notesToTerminal ? this.#paintJson(text) : text}\n`,
    );
  }

  /** Nothing is held back. */
  release(): void {}

  #print(output: Output, text: string): void {
    if (this.#editor === null) output.write(text);
    else this.#editor.print(text);
  }

  #shown({ direction, line, message }: WireMessage): string {
    // A person decides by a request of the server: nothing of it may be hidden.
    const isWhole =
      this.#options.whole || (direction === 'received' && 'method' in message && 'id' in message);
    const charsMax = isWhole
      ? Number.POSITIVE_INFINITY
      : this.#width * MESSAGE_LINES_MAX - MARK_CHARS;
    const harmless = showJsonLine(cutText(line, charsMax));
    const text = cutText(harmless, charsMax);
    const isCut = line.length > charsMax || harmless.length > charsMax;
    const arrow = this.#paint(colorOf(direction, message), direction === 'sent' ? '→' : '←');
    return `${arrow} ${this.#paintJson(text)}${isCut ? this.#paint('dim', `… (${line.length} characters)`) : ''}\n`;
  }

  get #width(): number {
    const { stdout, stderr } = this.#options;
    return textColumns(stdout, stderr);
  }

  /** Colors the names of fields, and the method. */
  #paintJson(text: string): string {
    if (text.length > COLORED_CHARS_MAX) return text;
    let isMethod = false;
    return text.replace(STRING, (whole, string: string, colon: string) => {
      if (colon === '' && !isMethod) return whole;
      const color = colon === '' ? 'bold' : 'cyan';
      isMethod = colon !== '' && string === '"method"';
      return `${this.#paint(color, string)}${colon}`;
    });
  }
}

function colorOf(direction: WireMessage['direction'], message: WireMessage['message']): Color {
  if (direction === 'sent') return 'cyan';
  if (!('method' in message)) return 'error' in message ? 'red' : 'green';
  return 'id' in message ? 'yellow' : 'dim';
}
