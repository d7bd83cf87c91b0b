import type { Node } from 'web-tree-sitter';
import { latePattern } from '../../base/text/late-pattern.ts';

/** Characters that are not special to bash, zsh or sh anywhere in a word. */
const plain = latePattern(() => /[\p{L}\p{N}\p{M}_.,/:@%+^-]/u);
/** After these characters, `~` does not stand for a home folder. */
const beforeTilde = latePattern(() => /[\p{L}\p{N}^]/u);

/**
 * Returns a word as the shell passes it on. Returns null if that is not certain from its text
 * alone.
 */
export function decodeExactWord(node: Node): string | null {
  switch (node.type) {
    case 'word':
    case 'number':
      return decodeBare(node.text, true);
    case 'raw_string':
      return decodeRaw(node.text);
    case 'string':
      return decodeQuoted(node.text);
    case 'concatenation':
      return decodeParts(node);
    default:
      return null;
  }
}

function decodeParts(node: Node): string | null {
  let decoded = '';
  let end = node.startIndex;
  for (const part of node.children) {
    if (part.startIndex !== end || part.type === 'concatenation') return null;
    const atStart = end === node.startIndex;
    const text =
      part.type === 'word' || part.type === 'number'
        ? decodeBare(part.text, atStart)
        : decodeExactWord(part);
    if (text === null) return null;
    decoded += text;
    end = part.endIndex;
  }
  return end === node.endIndex ? decoded : null;
}

function decodeBare(text: string, atStart: boolean): string | null {
  let decoded = '';
  const chars = [...text];
  for (let at = 0; at < chars.length; at += 1) {
    const char = chars[at] ?? '';
    if (char === '\\') {
      at += 1;
      const escaped = chars[at];
      if (escaped === undefined || escaped === '\n') return null;
      decoded += escaped;
    } else if (isLiteral(char, chars[at - 1], atStart && at === 0)) decoded += char;
    else return null;
  }
  return decoded;
}

function isLiteral(char: string, before: string | undefined, startsWord: boolean): boolean {
  if (plain().test(char) || char === '!') return true;
  // At the start of a word, `#` begins a comment, and zsh replaces `=name` by the path of a
  // program.
  if (char === '#' || char === '=') return !startsWord && (char === '=' || before !== undefined);
  return char === '~' && before !== undefined && beforeTilde().test(before);
}

function decodeRaw(text: string): string | null {
  const inner = text.slice(1, -1);
  return text.length >= 2 && text.startsWith("'") && text.endsWith("'") && !inner.includes("'")
    ? inner
    : null;
}

/**
 * A part between double quotes that is escaped or literal. Anything else there is special to the
 * shell.
 */
const QUOTED_PART = /\\\n|\\([$`"\\])|(\\(?![$`"\\\n])|[^"`$\\]|\$(?=[ |)]|$))/gy;

function decodeQuoted(text: string): string | null {
  if (text.length < 2 || !text.startsWith('"') || !text.endsWith('"')) return null;
  const inner = text.slice(1, -1);
  const parts = [...inner.matchAll(QUOTED_PART)];
  const length = parts.reduce((sum, [part]) => sum + part.length, 0);
  return length === inner.length
    ? parts.map(([, escaped, plain]) => escaped ?? plain ?? '').join('')
    : null;
}
