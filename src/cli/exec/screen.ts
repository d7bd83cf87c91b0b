import { relative } from 'node:path';
import type { Writable } from 'node:stream';
import { isBelow } from '../../base/paths/is-within.ts';
import { showText } from '../../base/text/show-text.ts';
import { type MaybeTerminal, textColumns } from '../terminal/columns-of.ts';
import { type Color, painter } from '../terminal/painter.ts';

/** stdout or stderr. */
export type Output = Pick<Writable, 'write' | 'on'> & MaybeTerminal;

export interface ScreenOptions {
  stdout: Output;
  stderr: Output;
  env: Readonly<Record<string, string | undefined>>;
  /** Whether stdout has lines of JSON, between which nobody is asked anything. */
  json: boolean;
}

export interface LineOptions {
  indent?: string;
  color?: Color;
  isWhole?: boolean;
}

/**
 * Where a person sees what happens: the answer on stdout, everything else on stderr. It moves no
 * cursor, so it suits any width and kind of terminal. Texts of others have to be made harmless
 * before they come here.
 */
export class Screen {
  /** Whether a person reads the answer as it comes. If not, a program reads it. */
  readonly answersToTerminal: boolean;
  readonly notesToTerminal: boolean;
  /** Where questions are shown. Null: no person would see them. */
  readonly questions: Output | null;
  /** The working directory: paths in it are shown relative to it. */
  folder: string | null = null;
  readonly #stdout: Output;
  readonly #stderr: Output;
  /** The text in this color, if the notes have colors. */
  readonly paint: (color: Color, text: string) => string;
  /** Whether the cursor of the terminal stands behind text of the answer. */
  #isMidLine = false;
  /** The output that waits until the open question is answered. Null: no question is open. */
  #held: (() => void)[] | null = null;

  constructor({ stdout, stderr, env, json }: ScreenOptions) {
    this.#stdout = stdout;
    this.#stderr = stderr;
    this.answersToTerminal = stdout.isTTY === true && !json;
    this.notesToTerminal = stderr.isTTY === true;
    this.questions = this.notesToTerminal ? stderr : this.answersToTerminal ? stdout : null;
    this.paint = painter([stderr], env);
  }

  /** The width of a line, in characters. */
  get width(): number {
    return textColumns(this.#stderr, this.#stdout);
  }

  /**
   * A text of others as a line of notes: harmless, and cut at the width unless it is wanted whole.
   */
  line(text: string, { indent = '', color, isWhole = false }: LineOptions = {}): string {
    const shown = `${indent}${showText(text.replaceAll('\t', '  '))}`;
    const characters = isWhole || shown.length <= this.width ? [] : [...shown];
    const cut =
      characters.length > this.width ? `${characters.slice(0, this.width - 1).join('')}…` : shown;
    return color === undefined ? cut : this.paint(color, cut);
  }

  /** A path as it is shown where nobody decides by it. */
  path(path: string): string {
    return this.folder !== null && isBelow(path, this.folder) ? relative(this.folder, path) : path;
  }

  /** Writes text of the answer. */
  answer(text: string): void {
    this.#write(() => {
      if (text === '') return;
      this.#stdout.write(text);
      this.#isMidLine = this.answersToTerminal && !text.endsWith('\n');
    });
  }

  /** Ends the line of the answer, if one is open. */
  endAnswer(): void {
    this.#write(() => this.#endLine());
  }

  /** Writes lines about what happens. */
  note(...lines: string[]): void {
    this.#write(() => {
      if (lines.length === 0) return;
      this.#endLine();
      this.#stderr.write(lines.map((line) => `${line}\n`).join(''));
    });
  }

  /** Shows a part of a question at once, while everything else waits. */
  ask(text: string): void {
    this.#endLine();
    this.questions?.write(text);
  }

  /** Everything but questions waits until `release`. */
  hold(): void {
    this.#held ??= [];
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = null;
    for (const write of held) write();
  }

  #write(write: () => void): void {
    if (this.#held === null) write();
    else this.#held.push(write);
  }

  #endLine(): void {
    if (this.#isMidLine) this.#stdout.write('\n');
    this.#isMidLine = false;
  }
}
