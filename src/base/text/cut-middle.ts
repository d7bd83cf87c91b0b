import { cutText } from './cut-text.ts';

/** Cuts the middle out of a text that is longer than `charsMax`. */
export function cutMiddle(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const half = Math.floor(charsMax / 2);
  const end = text.slice(text.length - half).replace(/^[\uDC00-\uDFFF]/, '');
  return `${cutText(text, half)}\n[… ${text.length - 2 * half} characters were cut …]\n${end}`;
}
