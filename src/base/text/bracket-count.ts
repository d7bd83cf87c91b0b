const BRACKET = 0x5b;
const BRACE = 0x7b;

/** The opening brackets and braces of a text: JSON has at most so many objects and arrays. */
export function bracketCount(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === BRACKET || code === BRACE) count++;
  }
  return count;
}
