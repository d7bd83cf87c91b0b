import { latePattern } from '../../base/text/late-pattern.ts';
import { showText } from '../../base/text/show-text.ts';

/**
 * The end of a text that could go on as one visible character: half of a surrogate pair, a part of
 * an emoji, or of a line end.
 */
const unfinished = latePattern(
  () => /(?:\p{Extended_Pictographic}|\ufe0f|\u200d|[\ud800-\udbff]|\r)+$/u,
);

const HELD_CHARS_MAX = 256;

/** Makes a text harmless for a terminal while it streams, as `showText` does for a whole one. */
export class StreamedText {
  #held = '';

  /** Returns what can be shown by now. */
  push(delta: string): string {
    const text = this.#held + delta;
    const [end = ''] = unfinished().exec(text.slice(-HELD_CHARS_MAX)) ?? [];
    this.#held = end.length === HELD_CHARS_MAX ? '' : end;
    return harmless(text.slice(0, text.length - this.#held.length));
  }

  /** Returns the rest. */
  end(): string {
    const rest = this.#held;
    this.#held = '';
    return harmless(rest);
  }
}

/** A whole text for a terminal: with its line ends, and harmless. */
export function harmless(text: string): string {
  return showText(text.replaceAll('\r\n', '\n'), { multiline: true });
}
