import type { ParsedCommand } from '../command/parse-command.ts';
import { startsNoOthers } from '../command/starts-no-others.ts';
import type { CommandRules, PrefixRule } from './command-rules.ts';
import { type RuleScope, ruleAllows } from './rule-allows.ts';

/** What a name in the command means, and where the command runs. */
export interface NamedScope extends RuleScope {
  /** Whether the names of programs mean what the user has installed (`trustsNames`). */
  trusted: boolean;
  /** Whether rules that allow by name count. */
  allowed: boolean;
}

/**
 * Returns a rule that forbids something, if there is one and the command may start programs that heddle cannot tell from its words.
 * Returns null if each program of the command starts no others, or is allowed by a rule.
 */
export function untraceableRule({ tracedCommands }: ParsedCommand, { rules }: CommandRules, scope: NamedScope): PrefixRule | null {
  const forbidding = rules.find(({ decision }) => decision === 'forbidden');
  if (forbidding === undefined) return null;
  const isKnown = (words: readonly string[]) =>
    (scope.trusted && startsNoOthers(words)) || (scope.allowed && rules.some((rule) => ruleAllows(rule, words, scope)));
  return tracedCommands?.every(({ words }) => isKnown(words)) === true ? null : forbidding;
}
