import { startsNoOthers } from '../harmless/starts-no-others.ts';
import type { ParsedCommand } from '../parse/parse-command.ts';
import type { CommandRules, PrefixRule } from './command-rules.ts';
import { type RuleScope, ruleAllows } from './rule-allows.ts';

/** The scope of a command, and whether the names of its programs can be trusted. */
export interface NamedScope extends RuleScope {
  /** Whether the names of programs mean the programs that the user installed (`trustsNames`). */
  trusted: boolean;
  /** Whether rules that allow a program by its name apply. */
  allowed: boolean;
}

/**
 * Returns a rule that forbids something, if there is one and the command may start programs that
 * heddle cannot tell from its words. Returns null if each program of the command starts no others,
 * or is allowed by a rule.
 */
export function untraceableRule(
  { tracedCommands }: ParsedCommand,
  { rules }: CommandRules,
  scope: NamedScope,
): PrefixRule | null {
  const forbidding = rules.find(({ decision }) => decision === 'forbidden');
  if (forbidding === undefined) return null;
  const isKnown = (words: readonly string[]) =>
    (scope.trusted && startsNoOthers(words)) ||
    (scope.allowed && rules.some((rule) => ruleAllows(rule, words, scope)));
  return tracedCommands?.every(({ words }) => isKnown(words)) === true ? null : forbidding;
}
