/** A rule of a `rules/*.rules` file: what is to happen to commands that begin so. Of several the strictest holds. */
export interface PrefixRule {
  /** For each word, what it may be. */
  pattern: readonly (readonly string[])[];
  decision: 'allow' | 'prompt' | 'forbidden';
  /** Why, for the person who is asked or the model that is refused. */
  justification: string | null;
}

/** Something in a rules file that cannot be understood. */
export interface RuleProblem {
  message: string;
  path: string;
  /** From 1; null: the file as a whole. */
  line: number | null;
}

export interface CommandRules {
  rules: readonly PrefixRule[];
  /** While there are any, every command is asked about: what cannot be read may forbid it. */
  problems: readonly RuleProblem[];
}
