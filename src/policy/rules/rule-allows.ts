import type { PrefixRule } from './command-rules.ts';
import { matchesPrefix } from './matches-prefix.ts';

/** Whether a rule allows a command in the project with this root. */
export function ruleAllows(rule: PrefixRule, words: readonly string[], project: string): boolean {
  const { decision, exact = false, projects, pattern } = rule;
  return (
    decision === 'allow' &&
    matchesPrefix(words, rule) &&
    (!exact || words.length === pattern.length) &&
    (projects === undefined || projects.includes(project))
  );
}
