import type { ParsedCommand } from '../command/parse-command.ts';
import { startsNoOthers } from '../command/starts-no-others.ts';
import type { CommandRules, PrefixRule } from './command-rules.ts';
import { ruleAllows } from './rule-allows.ts';

/** What a name in the command means. */
export interface Names {
  /** Whether the names of programs mean what the user has installed (`trustsNames`). */
  trusted: boolean;
  /** Whether rules that allow by name count. */
  allowed: boolean;
  /** The root of the project, for rules that hold in one project. */
  project: string;
}

/**
 * Returns a rule that forbids something, if there is one and the command may start programs that heddle cannot tell from its words.
 * Returns null if each program of the command starts no others, or is allowed by a rule.
 */
export function untraceableRule({ tracedCommands }: ParsedCommand, { rules }: CommandRules, names: Names): PrefixRule | null {
  const forbidding = rules.find(({ decision }) => decision === 'forbidden');
  if (forbidding === undefined) return null;
  const isKnown = (words: readonly string[]) =>
    (names.trusted && startsNoOthers(words)) || (names.allowed && rules.some((rule) => ruleAllows(rule, words, names.project)));
  return tracedCommands?.every(({ words }) => isKnown(words)) === true ? null : forbidding;
}
