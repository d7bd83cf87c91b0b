import type { PrefixRule } from './command-rules.ts';
import { matchesPrefix } from './matches-prefix.ts';

/** The project in which a command runs, and whether it leaves the sandbox policy. */
export interface RuleScope {
  /** The root of the project that the command runs in. */
  project: string;
  /**
   * Whether the command goes beyond the sandbox policy: it leaves the sandbox, or gets more
   * permissions in it.
   */
  goesBeyond: boolean;
}

/** Whether a rule allows a command. */
export function ruleAllows(
  rule: PrefixRule,
  words: readonly string[],
  { project, goesBeyond }: RuleScope,
): boolean {
  const { decision, exact = false, within = false, projects, pattern } = rule;
  return (
    decision === 'allow' &&
    matchesPrefix(words, rule) &&
    !(within && goesBeyond) &&
    (!exact || words.length === pattern.length) &&
    (projects === undefined || projects.includes(project))
  );
}
