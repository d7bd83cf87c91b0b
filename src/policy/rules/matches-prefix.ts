import type { PrefixRule } from './command-rules.ts';

/** Whether a command begins exactly as a rule says, word by word: another path of the same program is another program. */
export function matchesPrefix(words: readonly string[], { pattern }: Pick<PrefixRule, 'pattern'>): boolean {
  return words.length >= pattern.length && pattern.every((alternatives, index) => alternatives.includes(words[index] ?? ''));
}
