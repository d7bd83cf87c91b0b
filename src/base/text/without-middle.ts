import { cutText } from './cut-text.ts';

/**
 * A text of this length without its middle, in little more than `charsMax` characters. `start`,
 * `end`: at least so much of it from its start and before its end.
 */
export function withoutMiddle(
  start: string,
  end: string,
  { charsMax, length }: { charsMax: number; length: number },
): string {
  const half = Math.floor(charsMax / 2);
  return `${cutText(start, half)} [… ${length - 2 * half} characters left out …] ${end.slice(-half).replace(/^[\uDC00-\uDFFF]/, '')}`;
}
