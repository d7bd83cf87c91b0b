import type { Clock, Timer } from '../../base/clock.ts';
import type { Env } from '../../base/env.ts';
import { showText } from '../../base/text/show-text.ts';
import { columnsOf, type MaybeTerminal } from '../terminal/columns-of.ts';
import { isDumb } from '../terminal/painter.ts';

/** The facts about stderr that the worker which shows progress needs. */
export interface ProgressPlace {
  /** Whether a line can be replaced. If not, each line stays. */
  isTerminal: boolean;
  /** The width of a line, in characters. */
  columns: number;
}

interface ProgressDeps {
  clock: Clock;
  write(text: string): void;
}

/** Shorter work shows nothing. */
const FIRST_MS = 1_000;
const REDRAW_MS = 200;
/** Lines that stay are written this far apart. */
const LINES_MS = 10_000;
const SECONDS_A_MINUTE = 60;

/** Goes back to the start of the line of a terminal, and clears it. */
export const CLEAR_LINE = '\r\u001b[K';

/** The place of progress on stderr. */
export function progressPlace(stderr: MaybeTerminal, env: Env): ProgressPlace {
  return { isTerminal: stderr.isTTY === true && !isDumb(env), columns: columnsOf(stderr) };
}

/**
 * Shows what long work does now, and for how long it has run: on a terminal in one line, which goes
 * away at the end; elsewhere in lines, of which the first comes after a second. It has no colors.
 */
export class ProgressLine {
  readonly #place: ProgressPlace;
  readonly #clock: Clock;
  readonly #write: ProgressDeps['write'];
  readonly #startedMs: number;
  #timer: Timer;
  #step = '';
  #shown = '';

  constructor(place: ProgressPlace, { clock, write }: ProgressDeps) {
    this.#place = place;
    this.#clock = clock;
    this.#write = write;
    this.#startedMs = clock.monotonic();
    this.#timer = clock.setTimer(() => this.#show(), FIRST_MS);
  }

  /** Says what is done now. */
  step(text: string): void {
    this.#step = showText(text);
  }

  end(): void {
    this.#timer.clear();
    if (this.#place.isTerminal && this.#shown !== '') this.#write(CLEAR_LINE);
    this.#shown = '';
  }

  #show(): void {
    const { isTerminal, columns } = this.#place;
    this.#timer = this.#clock.setTimer(() => this.#show(), isTerminal ? REDRAW_MS : LINES_MS);
    if (this.#step === '') return;
    const text = `${this.#step} … ${duration(this.#clock.monotonic() - this.#startedMs)}`;
    if (!isTerminal) this.#write(`heddle: ${text}\n`);
    // A line as wide as the terminal would go on in the next one.
    else if (text !== this.#shown)
      this.#write(`${CLEAR_LINE}${[...text].slice(0, Math.max(1, columns - 1)).join('')}`);
    this.#shown = text;
  }
}

function duration(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  const minutes = Math.floor(seconds / SECONDS_A_MINUTE);
  return minutes === 0 ? `${seconds} s` : `${minutes} min ${seconds % SECONDS_A_MINUTE} s`;
}
