import { cutText, textEnd } from './cut-text.ts';

/** Cuts the middle out of a text that is longer than `charsMax`. */
export function cutMiddle(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const half = Math.floor(charsMax / 2);
  return `${cutText(text, half)}\n[… ${text.length - 2 * half} characters truncated …]\n${textEnd(text, half)}`;
}
