/** A rule of a `rules/*.rules` file: what is to happen to commands that begin so. Of several the strictest holds. */
export interface PrefixRule {
  /** For each word, what it may be. */
  pattern: readonly (readonly string[])[];
  decision: 'allow' | 'prompt' | 'forbidden';
  /** Why, for the person who is asked or the model that is refused. */
  justification: string | null;
}

export interface CommandRules {
  rules: readonly PrefixRule[];
}
