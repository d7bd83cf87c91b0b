import { SerialQueue } from '../../../base/keyed-queue.ts';
import type { Screen } from '../screen.ts';
import { Keyboard, type KeyboardStream, openTerminal } from './keyboard.ts';

/** An answer to choose by its key. */
export interface Choice<T> {
  key: string;
  label: string;
  value: T;
}

/** Nobody can be asked: there is no terminal, or its input has ended. */
export class NobodyThere extends Error {}

/**
 * The terminal while it belongs to one question. Each method rejects with a NobodyThere at the end
 * of the input.
 */
export interface Dialog {
  show(...lines: string[]): void;
  choose<T>(choices: readonly Choice<T>[]): Promise<T>;
  /** A line that the person types. */
  line(prompt: string, options?: { hidden?: boolean }): Promise<string>;
}

/** Asks at the terminal, one question after another: several can be open at once. */
export class Dialogs {
  readonly #screen: Screen;
  readonly #stdin: KeyboardStream;
  readonly #onInterrupt: () => void;
  #keyboard: Keyboard | null = null;
  readonly #queue = new SerialQueue();

  constructor(screen: Screen, stdin: KeyboardStream, onInterrupt: () => void) {
    this.#screen = screen;
    this.#stdin = stdin;
    this.#onInterrupt = onInterrupt;
  }

  /**
   * Runs `work` when all earlier questions are answered. Rejects with a NobodyThere if no person
   * can answer, and with the signal's reason when the server does not wait any more.
   */
  ask<T>(signal: AbortSignal, work: (dialog: Dialog) => Promise<T>): Promise<T> {
    return this.#queue.run(() => this.#ask(signal, work));
  }

  async #ask<T>(signal: AbortSignal, work: (dialog: Dialog) => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    const keyboard = this.#open();
    if (keyboard === null) throw new NobodyThere('no terminal');
    this.#screen.hold();
    try {
      await keyboard.open();
      return await work(new OpenDialog(this.#screen, keyboard, signal));
    } catch (error) {
      if (signal.aborted) this.#screen.ask('\n(no answer is needed any more)\n');
      throw error;
    } finally {
      keyboard.close();
      this.#screen.release();
    }
  }

  #open(): Keyboard | null {
    if (this.#keyboard !== null || this.#screen.questions === null) return this.#keyboard;
    const stream = openTerminal(this.#stdin);
    if (stream !== null) this.#keyboard = new Keyboard(stream, this.#onInterrupt);
    return this.#keyboard;
  }
}

class OpenDialog implements Dialog {
  readonly #screen: Screen;
  readonly #keyboard: Keyboard;
  readonly #signal: AbortSignal;

  constructor(screen: Screen, keyboard: Keyboard, signal: AbortSignal) {
    this.#screen = screen;
    this.#keyboard = keyboard;
    this.#signal = signal;
  }

  show(...lines: string[]): void {
    this.#screen.ask(lines.map((line) => `${line}\n`).join(''));
  }

  async choose<T>(choices: readonly Choice<T>[]): Promise<T> {
    this.show(...choices.map(({ key, label }) => `  ${this.#screen.paint('bold', key)}  ${label}`));
    for (;;) {
      const typed = await this.line(`[${choices.map(({ key }) => key).join('/')}]: `);
      const choice = choices.find(({ key }) => key === typed.trim().toLowerCase());
      if (choice !== undefined) return choice.value;
      this.show(
        `Type one of these letters, and Enter: ${choices.map(({ key }) => key).join(', ')}.`,
      );
    }
  }

  async line(prompt: string, { hidden = false }: { hidden?: boolean } = {}): Promise<string> {
    this.#screen.ask(prompt);
    const line = await (hidden
      ? this.#keyboard.hiddenLine(this.#signal)
      : this.#keyboard.line(this.#signal));
    if (hidden) this.#screen.ask('\n');
    if (line === null) {
      this.#screen.ask('\n');
      throw new NobodyThere('the input of the terminal has ended');
    }
    return line;
  }
}
