import type { RuleProblem } from './command-rules.ts';
import type { StrictRule } from './strict-rule.ts';

/** The pattern of a rule, with its justification. */
export function ruleText({ pattern, justification }: StrictRule['rule']): string {
  const words = pattern.map((alternatives) => alternatives.join('|')).join(' ');
  return `\`${words}\`${justification === null ? '' : ` (${justification})`}`;
}

/** Returns the refusal for the model if a rule forbids a command. */
export function forbidden({ rule }: StrictRule): string {
  return `Rejected: a rule forbids ${ruleText(rule)}. Do not try to achieve the same in another way.`;
}

/** Why a command needs approval: a rule restricts it, or may do so. */
export function asksRule({ rule, uncertain }: StrictRule): string {
  const verb = rule.decision === 'forbidden' ? 'forbids' : 'requires approval for';
  const doubt = uncertain ? ', and this command may run that' : '';
  return `A rule ${verb} ${ruleText(rule)}${doubt}.`;
}

/** Why a command needs approval: a rule cannot be read. Null: all can. */
export function asksUnreadable([problem]: readonly RuleProblem[]): string | null {
  if (problem === undefined) return null;
  const location = problem.line === null ? problem.path : `${problem.path}:${problem.line}`;
  return `A rule that may forbid this command cannot be read: ${location}: ${problem.message}.`;
}
