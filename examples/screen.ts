import type { Writable } from 'node:stream';
import { showText } from 'heddle/client';

/** The maximum number of characters of a message that are shown. */
const MESSAGE_CHARS_MAX = 360;
const CONVERSATION_COLUMNS = 92;
/** The width of the conversation if the wire is shown to its right. */
const CONVERSATION_COLUMNS_BESIDE = 58;
const WIRE_COLUMNS_MIN = 60;
const PAGE_COLUMNS = 180;
const INDENT = ' '.repeat(10);
const UUID = /[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[\da-f]{4}-[\da-f]{12}/g;

export interface ScreenOptions {
  /** Shows every message on the wire to the right of the conversation. */
  wire: boolean;
  colours: boolean;
  /** The width of the terminal. Absent: there is no terminal. */
  columns?: number | undefined;
}

/** Shows a conversation, as it arrives, for a person to read. */
export class Screen {
  readonly #output: Writable;
  readonly #options: ScreenOptions;
  readonly #right: number;
  #column = 0;
  #shownOfMessage = 0;
  #deltas: { method: string; count: number } | null = null;

  constructor(output: Writable, options: ScreenOptions) {
    this.#output = output;
    this.#options = options;
    this.#right = options.wire ? CONVERSATION_COLUMNS_BESIDE : Math.min(CONVERSATION_COLUMNS, (options.columns ?? PAGE_COLUMNS) - 8);
  }

  heading(text: string): void {
    this.#flushDeltas();
    this.#line('');
    this.#line(showText(text), '1');
  }

  note(text: string): void {
    this.#flushDeltas();
    this.#line(`  ${showText(text)}`);
  }

  /** Shows a complete message with the name of its author. */
  says(who: string, text: string): void {
    this.begins(who);
    this.adds(text);
    this.ends();
  }

  begins(who: string): void {
    this.#flushDeltas();
    this.#freshLine();
    this.#shownOfMessage = 0;
    this.#write(`  ${who}`.padEnd(INDENT.length), '36');
  }

  /** Adds text to the message that has begun. */
  adds(text: string): void {
    const room = MESSAGE_CHARS_MAX - this.#shownOfMessage;
    if (room <= 0) return;
    this.#shownOfMessage += text.length;
    const shown = showText(text.length < room ? text : `${text.slice(0, room)}…`, { multiline: true });
    for (const piece of shown.match(/\n|[^\S\n]+|\S+/g) ?? []) {
      if (piece === '\n' || (piece.trim() === '' && this.#column >= this.#right)) this.#write('\n');
      else if (piece.trim() !== '') this.#write(this.#column === 0 ? INDENT + piece : piece);
      else if (this.#column > INDENT.length) this.#write(piece);
    }
  }

  ends(): void {
    this.#freshLine();
  }

  /** Shows a message on the wire. Consecutive deltas of one method become one line. */
  wire(direction: 'sent' | 'received', line: string): void {
    if (!this.#options.wire) return;
    const delta = direction === 'received' ? /^\{"method":"([^"]*[dD]elta)"/.exec(line)?.[1] : undefined;
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

  #flushDeltas(): void {
    if (this.#deltas === null) return;
    const { method, count } = this.#deltas;
    this.#deltas = null;
    this.#wireLine('←', `{"method":"${method}", …} × ${count.toLocaleString('en')}`);
  }

  #wireLine(arrow: string, text: string): void {
    const shown = showText(text);
    const left = this.#right + 4;
    const room = Math.max(WIRE_COLUMNS_MIN, (this.#options.columns ?? PAGE_COLUMNS) - left - 3);
    this.#line(`${' '.repeat(left)}${arrow} ${shown.length > room ? `${shown.slice(0, room - 1)}…` : shown}`, '2');
  }

  #line(text: string, style?: string): void {
    this.#freshLine();
    this.#write(text, style);
    this.#write('\n');
  }

  #freshLine(): void {
    if (this.#column > 0) this.#write('\n');
  }

  #write(text: string, style?: string): void {
    const end = text.lastIndexOf('\n');
    this.#column = end === -1 ? this.#column + text.length : text.length - end - 1;
    this.#output.write(style !== undefined && this.#options.colours ? `\x1b[${style}m${text}\x1b[0m` : text);
  }
}
