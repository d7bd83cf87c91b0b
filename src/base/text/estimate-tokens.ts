/** A token has about so many characters, or bytes, of English or code. */
export const CHARS_PER_TOKEN = 4;
/**
 * For what must fit into a context window beside much else: most texts have more characters a
 * token.
 */
export const CAUTIOUS_CHARS_PER_TOKEN = 3;

/**
 * About how many tokens a text of so many characters, or bytes, has. An estimate, not a whole
 * number: models count tokens differently.
 */
export function estimateTokens(chars: number, charsPerToken = CHARS_PER_TOKEN): number {
  return chars / charsPerToken;
}

/** About how many characters so many tokens have. */
export function charsOfTokens(tokens: number, charsPerToken = CHARS_PER_TOKEN): number {
  return tokens * charsPerToken;
}
