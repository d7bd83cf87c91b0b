/** Words as a person would type them in a shell. */
export function quoteWords(words: readonly string[]): string {
  return words.map(quoteWord).join(' ');
}

function quoteWord(word: string): string {
  if (/^[\w@%+:./-][\w@%+=:./~-]*$/.test(word)) return word;
  // In double quotes, what has an apostrophe stays readable; a `!` there is another thing to interactive shells.
  if (word.includes("'") && !word.includes('!')) return `"${word.replace(/["$\\`]/g, '\\$&')}"`;
  return `'${word.replaceAll("'", "'\\''")}'`;
}
