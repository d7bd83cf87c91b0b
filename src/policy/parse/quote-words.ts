/** Joins words as a person would type them in a shell. */
export function quoteWords(words: readonly string[]): string {
  return words.map(quoteWord).join(' ');
}

function quoteWord(word: string): string {
  if (/^[\w@%+:./-][\w@%+=:./~-]*$/.test(word)) return word;
  // A word with an apostrophe is more readable in double quotes. Interactive shells expand a `!` in
  // them.
  if (word.includes("'") && !word.includes('!')) return `"${word.replace(/["$\\`]/g, '\\$&')}"`;
  return `'${word.replaceAll("'", "'\\''")}'`;
}
