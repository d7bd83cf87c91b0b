import type { PrefixRule } from './command-rules.ts';

/**
 * Whether a command begins with the words of a rule. Compares exactly: another path of the same
 * program does not match.
 */
export function matchesPrefix(
  words: readonly string[],
  { pattern }: Pick<PrefixRule, 'pattern'>,
): boolean {
  return (
    words.length >= pattern.length &&
    pattern.every((alternatives, index) => alternatives.includes(words[index] ?? ''))
  );
}
