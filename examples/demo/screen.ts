import { showText } from 'heddle/client';

/** The maximum number of characters of a message that are shown. */
const MESSAGE_CHARS_MAX = 360;
const CONVERSATION_COLUMNS = 96;
/** The width of the conversation if the wire is shown to its right. */
const CONVERSATION_COLUMNS_BESIDE = 58;
const WIRE_COLUMNS_MIN = 60;
const GAP_COLUMNS = 4;
/** The width of the output if there is no terminal. */
const PAGE_COLUMNS = 180;
/** The width of a terminal that reports none. */
const TERMINAL_COLUMNS = 80;
const TERMINAL_COLUMNS_MIN = 20;
const INDENT = ' '.repeat(10);
const NOTE_INDENT = '  ';
/** Green and red, by the first character of a line. */
const DIFF_STYLES: Record<string, string> = { '+': '32', '-': '31' };
const UUID = /[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[\da-f]{4}-[\da-f]{12}/g;

/** stdout, or what stands for it. */
export interface Output {
  write(text: string): unknown;
  isTTY?: boolean;
  /** The width of the terminal, which may change. Some terminals report 0. */
  columns?: number;
}

export interface ScreenOptions {
  /**
   * Shows every message on the wire: to the right of the conversation if there is room, else below
   * it.
   */
  wire: boolean;
  colors: boolean;
}

/**
 * Shows a conversation, as it arrives, for a person to read. On a terminal, no line is wider than
 * the terminal.
 */
export class Screen {
  readonly #output: Output;
  readonly #options: ScreenOptions;
  #column = 0;
  #shownOfMessage = 0;
  /**
   * The spaces and the beginning of the word that are not written yet: the rest decides whether the
   * word fits into the line.
   */
  #space = '';
  #word = '';
  #style: string | undefined;
  #deltas: { method: string; count: number } | null = null;

  constructor(output: Output, options: ScreenOptions) {
    this.#output = output;
    this.#options = options;
  }

  heading(text: string): void {
    this.#flushDeltas();
    this.#line('');
    for (const line of this.#wrapped(showText(text), this.#width)) this.#line(line, '1');
  }

  note(text: string): void {
    this.#flushDeltas();
    for (const line of this.#wrapped(showText(text), this.#right - NOTE_INDENT.length))
      this.#line(`${NOTE_INDENT}${line}`);
  }

  /** Shows a complete message with the name of its author. */
  says(who: string, text: string): void {
    this.begins(who);
    this.adds(text);
    this.ends();
  }

  /** Shows a change of a file. */
  edits(path: string, diff: string): void {
    this.begins('edits');
    this.adds(`${path}\n`);
    for (const line of diff.trimEnd().split('\n')) {
      this.#style = DIFF_STYLES[line.charAt(0)];
      this.adds(`${line}\n`);
    }
    this.#style = undefined;
    this.ends();
  }

  begins(who: string): void {
    this.#flushDeltas();
    this.ends();
    this.#shownOfMessage = 0;
    this.#write(`  ${who}`.padEnd(INDENT.length), '36');
  }

  /** Adds text to the message that has begun. Its last word is written when the next one begins. */
  adds(text: string): void {
    const room = MESSAGE_CHARS_MAX - this.#shownOfMessage;
    if (room < 0) return;
    this.#shownOfMessage += text.length;
    const shown = showText(text.length <= room ? text : `${text.slice(0, room)}…`, {
      multiline: true,
    });
    for (const piece of shown.match(/\n|[^\S\n]+|\S+/g) ?? []) {
      if (piece.trim() !== '') {
        this.#word += piece;
        continue;
      }
      this.#flushWord();
      this.#space = piece === '\n' ? '' : this.#space + piece.replaceAll('\t', '  ');
      if (piece === '\n') this.#write('\n');
    }
  }

  ends(): void {
    this.#flushWord();
    this.#space = '';
    if (this.#column > 0) this.#write('\n');
  }

  /** Shows a message on the wire. Consecutive deltas of one method become one line. */
  wire(direction: 'sent' | 'received', line: string): void {
    if (!this.#options.wire) return;
    const delta =
      direction === 'received' ? /^\{"method":"([^"]*[dD]elta)"/.exec(line)?.[1] : undefined;
    if (delta !== undefined && this.#deltas?.method === delta) {
      this.#deltas.count++;
      return;
    }
    this.#flushDeltas();
    if (delta !== undefined) this.#deltas = { method: delta, count: 1 };
    else
      this.#wireLine(
        direction === 'sent' ? '→' : '←',
        line.replace(UUID, (id) => `…${id.slice(-4)}`),
      );
  }

  get #width(): number {
    const { isTTY, columns } = this.#output;
    return isTTY === true
      ? Math.max(TERMINAL_COLUMNS_MIN, columns || TERMINAL_COLUMNS)
      : PAGE_COLUMNS;
  }

  get #isBeside(): boolean {
    return (
      this.#options.wire &&
      this.#width >= CONVERSATION_COLUMNS_BESIDE + GAP_COLUMNS + WIRE_COLUMNS_MIN
    );
  }

  /** The width of the conversation. */
  get #right(): number {
    return this.#isBeside
      ? CONVERSATION_COLUMNS_BESIDE
      : Math.min(CONVERSATION_COLUMNS, this.#width);
  }

  /** The text in lines of at most this width if a person reads it at a terminal, else in one. */
  #wrapped(text: string, width: number): string[] {
    if (this.#output.isTTY !== true) return [text];
    const lines = [''];
    for (const word of text.split(' ').flatMap((part) => pieces(part, width))) {
      const joined = lines.at(-1) === '' ? word : `${lines.at(-1)} ${word}`;
      if (lengthOf(joined) <= width) lines[lines.length - 1] = joined;
      else lines.push(word);
    }
    return lines;
  }

  #flushDeltas(): void {
    if (this.#deltas === null) return;
    const { method, count } = this.#deltas;
    this.#deltas = null;
    this.#wireLine('←', `{"method":"${method}", …} × ${count.toLocaleString('en')}`);
  }

  #wireLine(arrow: string, text: string): void {
    const left = this.#isBeside ? this.#right + GAP_COLUMNS : NOTE_INDENT.length;
    const room = this.#width - left - `${arrow} `.length;
    const shown = [...showText(text)];
    const cut = shown.length > room ? [...shown.slice(0, room - 1), '…'] : shown;
    this.#line(`${' '.repeat(left)}${arrow} ${cut.join('')}`, '2');
  }

  #line(text: string, style?: string): void {
    this.ends();
    this.#write(text, style);
    this.#write('\n');
  }

  /**
   * Writes the word that waits: in this line if it fits, else in the next one, and in pieces if it
   * is longer than a line.
   */
  #flushWord(): void {
    if (this.#word === '') return;
    const [word, space] = [this.#word, this.#space];
    [this.#word, this.#space] = ['', ''];
    const right = this.#right;
    const isStart = this.#column === 0;
    const fits = (isStart ? INDENT.length : this.#column) + space.length + lengthOf(word) <= right;
    if (fits) {
      this.#write(`${isStart ? INDENT : ''}${space}${word}`, this.#style);
      return;
    }
    if (this.#column > INDENT.length) this.#write('\n');
    for (const [index, piece] of pieces(word, right - INDENT.length).entries()) {
      if (index > 0) this.#write('\n');
      this.#write(this.#column === 0 ? INDENT + piece : piece, this.#style);
    }
  }

  #write(text: string, style?: string): void {
    const end = text.lastIndexOf('\n');
    this.#column = end === -1 ? this.#column + lengthOf(text) : lengthOf(text.slice(end + 1));
    this.#output.write(
      style !== undefined && text !== '\n' && this.#options.colors
        ? `\x1b[${style}m${text}\x1b[0m`
        : text,
    );
  }
}

/** A word in pieces of at most this length. */
function pieces(word: string, length: number): string[] {
  const characters = [...word];
  const count = Math.max(1, Math.ceil(characters.length / length));
  return Array.from({ length: count }, (_, index) =>
    characters.slice(index * length, (index + 1) * length).join(''),
  );
}

function lengthOf(text: string): number {
  return [...text].length;
}
