import { showJsonLine, showText } from '../../base/text/show-text.ts';

/** A value as a line writes it after `NAME=`: a word, or JSON, harmless for a terminal. */
export function shownValue(value: unknown): string {
  const isWord =
    typeof value === 'string' && /^[^\s"'{}[\]]+$/.test(value) && showText(value) === value;
  return isWord ? value : showJsonLine(JSON.stringify(value));
}
