import type { AskForApproval } from '../protocol/generated/types.ts';
import { commandKey } from './command-key.ts';
import type { RuleProblem } from './command-rules.ts';
import type { CommandSituation, CommandVerdict } from './command-verdict.ts';
import { isHarmless } from './harmless-command.ts';
import { matchesPrefix } from './matches-prefix.ts';
import type { ParsedCommand } from './parse-command.ts';
import { proposeAmendment } from './propose-amendment.ts';
import { hasBounds } from './sandbox-bounds.ts';
import { type StrictRule, strictRule } from './strict-rules.ts';

/**
 * What is to become of a command. What forbids wins over all; then what was allowed for the session; then rules that ask;
 * then rules that allow; the approval policy decides the rest.
 */
export function judgeCommand(situation: CommandSituation): CommandVerdict {
  const { request, sandboxPolicy, rules } = situation;
  const bounded = hasBounds(sandboxPolicy);
  const leaves = request.escalates && bounded;
  const sandboxed = bounded && !leaves;
  const strict = strictRule(request.command, rules);
  if (strict?.decision === 'forbidden') return refuse(forbidden(strict));
  if (isGranted(situation, sandboxed)) return run(sandboxed);
  const doubt = strict === null ? unreadable(rules.problems) : asksRule(strict);
  if (doubt !== null) return byRule(situation, { leaves, sandboxed, reason: doubt });
  if (isAllowed(situation, leaves)) return leaves && looksWithGit(request.command) ? LOOK : run(sandboxed);
  return leaves ? byPolicyOutside(situation) : byPolicyInside(situation, bounded);
}

/** What a rule asks about, or may. */
function byRule(
  situation: CommandSituation,
  { leaves, sandboxed, reason }: { leaves: boolean; sandboxed: boolean; reason: string },
): CommandVerdict {
  const { approvalPolicy, request } = situation;
  const isAsked = typeof approvalPolicy === 'string' ? approvalPolicy !== 'never' : approvalPolicy.granular.rules;
  if (!isAsked) return refuse(unasked(approvalPolicy, reason));
  const refusal = leaves ? escalationRefusal(approvalPolicy) : null;
  if (refusal !== null) return refuse(refusal);
  // No amendment: a rule that allows would change nothing where another asks.
  const reasons = leaves ? `${reason} ${request.justification ?? LEAVES}` : reason;
  return { verdict: 'ask', reason: reasons, sandboxed, key: keyOf(situation, sandboxed), proposedAmendment: null };
}

/** What leaves the sandbox when it is let. */
function byPolicyOutside(situation: CommandSituation): CommandVerdict {
  const refusal = escalationRefusal(situation.approvalPolicy);
  return refusal === null ? ask(situation, { sandboxed: false, reason: situation.request.justification ?? LEAVES }) : refuse(refusal);
}

function escalationRefusal(policy: AskForApproval): string | null {
  if (policy === 'never') return NEVER_ESCALATES;
  return typeof policy === 'string' || policy.granular.sandbox_approval ? null : NO_ESCALATION_APPROVALS;
}

/** What stays within the bounds of the sandbox policy, if it has any. */
function byPolicyInside(situation: CommandSituation, bounded: boolean): CommandVerdict {
  const { request, approvalPolicy } = situation;
  switch (approvalPolicy) {
    case 'untrusted':
      if (looks(request.command, bounded)) return bounded ? LOOK : run(false);
      return ask(situation, { sandboxed: bounded, reason: request.justification });
    case 'on-failure':
      return bounded && isGranted(situation, false) ? run(false) : { ...RUN, sandboxed: bounded, askIfRefused: bounded };
    default:
      return run(bounded);
  }
}

const RUN = { verdict: 'run', sandboxed: true, readOnly: false, askIfRefused: false } as const;
const LOOK = { ...RUN, readOnly: true } as const;
const LEAVES = 'It asks to run outside the sandbox.';
const NEVER_ESCALATES =
  'The approval policy is never: nobody is asked, so commands cannot leave the sandbox. Run it inside the sandbox, or do without it.';
const NO_ESCALATION_APPROVALS =
  'Rejected by the approval policy: nobody is asked about leaving the sandbox. Run it inside the sandbox, or do without it.';

function run(sandboxed: boolean): CommandVerdict {
  return { ...RUN, sandboxed };
}

function refuse(reason: string): CommandVerdict {
  return { verdict: 'refuse', reason };
}

function ask(situation: CommandSituation, { sandboxed, reason }: { sandboxed: boolean; reason: string | null }): CommandVerdict {
  const { command, prefixRule } = situation.request;
  const proposedAmendment = proposeAmendment(command, prefixRule);
  return { verdict: 'ask', reason, sandboxed, key: keyOf(situation, sandboxed), proposedAmendment };
}

function keyOf({ request: { command, cwd } }: CommandSituation, sandboxed: boolean): string {
  return commandKey({ argv: command.argv, cwd, sandboxed });
}

function isGranted(situation: CommandSituation, sandboxed: boolean): boolean {
  return situation.grants.allowsCommand(keyOf(situation, sandboxed));
}

/**
 * Whether rules allow all that the command is. Inside the sandbox, what is known to be harmless needs no rule beside what
 * has one.
 */
function isAllowed({ request: { command }, rules: { rules } }: CommandSituation, leaves: boolean): boolean {
  const { commands } = command;
  if (commands === null) return false;
  const allowing = rules.filter(({ decision }) => decision === 'allow');
  const isByRule = (words: readonly string[]) => allowing.some((rule) => matchesPrefix(words, rule));
  if (!commands.some(({ words }) => isByRule(words))) return false;
  return commands.every(({ words }) => isByRule(words) || (!leaves && isHarmless(words, { confined: false })));
}

/** Whether all of it is known to do no more than look. */
function looks({ commands }: ParsedCommand, confined: boolean): boolean {
  return commands?.every(({ words }) => isHarmless(words, { confined })) ?? false;
}

/** git that only looks has no need to leave the sandbox, where a repository may name the programs that git runs. */
function looksWithGit(command: ParsedCommand): boolean {
  return looks(command, true) && !looks(command, false);
}

function forbidden({ rule }: StrictRule): string {
  return `Rejected: a rule forbids ${patternText(rule)}${because(rule)}. Do not try to reach the same in another way.`;
}

function asksRule({ rule, uncertain }: StrictRule): string {
  const verb = rule.decision === 'forbidden' ? 'forbids' : 'asks about';
  const doubt = uncertain ? ', and it cannot be told that this does something else' : '';
  return `A rule ${verb} ${patternText(rule)}${because(rule)}${doubt}.`;
}

function patternText({ pattern }: StrictRule['rule']): string {
  return `\`${pattern.map((alternatives) => alternatives.join('|')).join(' ')}\``;
}

function because({ justification }: StrictRule['rule']): string {
  return justification === null ? '' : ` (${justification})`;
}

function unreadable([problem]: readonly RuleProblem[]): string | null {
  if (problem === undefined) return null;
  const place = problem.line === null ? problem.path : `${problem.path}:${problem.line}`;
  return `Rules that may forbid this cannot be read: ${place}: ${problem.message}.`;
}

function unasked(policy: AskForApproval, reason: string): string {
  const why = typeof policy === 'string' ? `The approval policy is ${policy}` : 'The approval policy has no questions about rules';
  return `Rejected: ${reason} ${why}: nobody is asked.`;
}
