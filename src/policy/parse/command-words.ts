import type { Node } from 'web-tree-sitter';
import { decodePartialWord } from './decode-partial-word.ts';

/** The parts of a command that are not its words. */
const NO_WORDS: ReadonlySet<string> = new Set([
  'variable_assignment',
  'file_redirect',
  'herestring_redirect',
  'heredoc_redirect',
  'comment',
]);

/** Returns the words of a command, with `\0` for text that only the shell knows. */
export function commandWords(node: Node): string[] {
  return node.children
    .filter((child) => child.isNamed && !NO_WORDS.has(child.type))
    .map(decodePartialWord);
}
