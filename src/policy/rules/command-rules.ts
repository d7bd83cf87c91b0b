import type { NetworkRule } from '../network/network-rule.ts';

/**
 * A rule of a `rules/*.rules` file: the decision for commands with a prefix. If several rules
 * match, the strictest applies.
 */
export interface PrefixRule {
  /** For each word of the prefix, its alternatives. */
  pattern: readonly (readonly string[])[];
  decision: 'allow' | 'prompt' | 'forbidden';
  /** The reason, for the person who is asked and for the model that is refused. */
  justification: string | null;
  /** For a rule that allows: whether no further words may follow. By default they may. */
  exact?: boolean;
  /**
   * For a rule that allows: whether it holds only for commands that stay within the sandbox policy.
   * By default it holds for all.
   */
  within?: boolean;
  /**
   * For a rule that allows: the roots of the projects in which it holds. By default it holds in all
   * projects.
   */
  projects?: readonly string[];
}

/** A part of a rules file that cannot be read. */
export interface RuleProblem {
  message: string;
  path: string;
  /** Counts from 1. Null: the whole file. */
  line: number | null;
}

export interface CommandRules {
  rules: readonly PrefixRule[];
  /**
   * While there are problems, every command needs approval, because the unreadable rule may forbid
   * it.
   */
  problems: readonly RuleProblem[];
}

/** All rules of the rules files. */
export interface ParsedRules extends CommandRules {
  networkRules: readonly NetworkRule[];
}
