import { latePattern } from './late-pattern.ts';

/**
 * Characters that a terminal or a window acts on or does not show: control characters, line and
 * paragraph separators, marks that change the direction of text, zero-width and other invisible
 * characters. Emoji keep the invisible characters that join them.
 */
const hidden = latePattern(
  () =>
    /((?<=\p{Extended_Pictographic})\ufe0f|(?<=\p{Extended_Pictographic}\ufe0f?)\u200d(?=\p{Extended_Pictographic}))|[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu,
);
const NAMED: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/**
 * The text with hidden characters shown as what they are: `\n`, `\x1b`, `\u{202e}`. Use it for
 * everything that models, commands and files say before you print it: an escape sequence can hide
 * or replace what a person is asked about. With `multiline`, line feeds and tabs stay.
 */
export function showText(
  text: string,
  { multiline = false }: { multiline?: boolean } = {},
): string {
  return text.replace(hidden(), (char, joint: string | undefined) => {
    if (joint !== undefined || (multiline && (char === '\n' || char === '\t'))) return char;
    return NAMED[char] ?? escaped(char);
  });
}

/**
 * A line of JSON with its hidden characters escaped as JSON does, except for the line feed at its
 * end.
 */
export function showJsonLine(line: string): string {
  return line.replace(hidden(), (char) =>
    char === '\n' ? char : char.split('').map(jsonEscaped).join(''),
  );
}

function escaped(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  return code <= 0xff ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
}

function jsonEscaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
