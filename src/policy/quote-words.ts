/** Words as a person would type them in a shell. */
export function quoteWords(words: readonly string[]): string {
  return words.map(quoteWord).join(' ');
}

function quoteWord(word: string): string {
  if (/^[\w@%+:./-][\w@%+=:./~-]*$/.test(word)) return word;
  return `'${word.replaceAll("'", "'\\''")}'`;
}
