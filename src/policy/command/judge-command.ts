import type { AskForApproval } from '../../protocol/generated/types.ts';
import { mayAsk } from '../permissions/may-ask.ts';
import { hasBounds } from '../permissions/sandbox-bounds.ts';
import type { RuleProblem } from '../rules/command-rules.ts';
import { matchesPrefix } from '../rules/matches-prefix.ts';
import { proposeAmendment } from '../rules/propose-amendment.ts';
import { type StrictRule, strictRule } from '../rules/strict-rule.ts';
import { commandKey } from './command-key.ts';
import type { CommandRequest, CommandSituation, CommandVerdict } from './command-verdict.ts';
import { isHarmless } from './is-harmless.ts';
import type { ParsedCommand } from './parse-command.ts';

/**
 * What is to become of a command. What forbids wins over all; then what was allowed for the session; then rules that ask;
 * then rules that allow; the approval policy decides the rest.
 */
export function judgeCommand(situation: CommandSituation): CommandVerdict {
  const { request, sandboxPolicy, rules, trustsNames } = situation;
  const bounded = hasBounds(sandboxPolicy);
  const sandboxed = bounded && !request.escalates;
  const goesBeyond = bounded && (request.escalates || request.permissions !== null);
  const strict = strictRule(request.command, rules);
  if (strict?.decision === 'forbidden') return refuse(forbidden(strict));
  if (isGranted(situation, sandboxed)) return run(sandboxed);
  const doubt = strict === null ? unreadable(rules.problems) : asksRule(strict);
  if (doubt !== null) return byRule(situation, { goesBeyond, sandboxed, reason: doubt });
  // Where another program of the same name may be run, a name counts in the sandbox alone.
  const isByName = trustsNames || (sandboxed && !goesBeyond);
  if (isByName && isAllowed(situation, goesBeyond)) return goesBeyond && looksWithGit(request.command) ? LOOK : run(sandboxed);
  return goesBeyond ? byPolicyBeyond(situation, sandboxed) : byPolicyInside(situation, bounded);
}

/** What a rule asks about, or may. */
function byRule(
  situation: CommandSituation,
  { goesBeyond, sandboxed, reason }: { goesBeyond: boolean; sandboxed: boolean; reason: string },
): CommandVerdict {
  const { approvalPolicy, request } = situation;
  if (!mayAsk(approvalPolicy, 'rules')) return refuse(unasked(approvalPolicy, reason));
  const refusal = goesBeyond ? beyondRefusal(approvalPolicy) : null;
  if (refusal !== null) return refuse(refusal);
  // No amendment: a rule that allows would change nothing where another asks.
  const reasons = goesBeyond ? `${reason} ${beyondReason(request)}` : reason;
  return { verdict: 'ask', reason: reasons, sandboxed, key: keyOf(situation, sandboxed), proposedAmendment: null };
}

/** What leaves the sandbox, or does more in it, when it is let. */
function byPolicyBeyond(situation: CommandSituation, sandboxed: boolean): CommandVerdict {
  const refusal = beyondRefusal(situation.approvalPolicy);
  return refusal === null ? ask(situation, { sandboxed, reason: beyondReason(situation.request) }) : refuse(refusal);
}

function beyondRefusal(policy: AskForApproval): string | null {
  if (mayAsk(policy, 'sandbox_approval')) return null;
  return policy === 'never' ? NEVER_BEYOND : NO_APPROVALS_BEYOND;
}

function beyondReason({ justification, escalates }: CommandRequest): string {
  return justification ?? (escalates ? LEAVES : WIDENS);
}

/** What stays within the bounds of the sandbox policy, if it has any. */
function byPolicyInside(situation: CommandSituation, bounded: boolean): CommandVerdict {
  const { request, approvalPolicy, trustsNames } = situation;
  switch (approvalPolicy) {
    case 'untrusted':
      if ((bounded || trustsNames) && looks(request.command, bounded)) return bounded ? LOOK : run(false);
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
const WIDENS = 'It asks for more than its sandbox allows.';
const NEVER_BEYOND =
  'The approval policy is never: nobody is asked, so commands cannot go beyond the sandbox. Run it inside the sandbox, or do without it.';
const NO_APPROVALS_BEYOND =
  'Rejected by the approval policy: nobody is asked about going beyond the sandbox. Run it inside the sandbox, or do without it.';

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

function keyOf({ request: { command, cwd, permissions } }: CommandSituation, sandboxed: boolean): string {
  return commandKey({ argv: command.argv, cwd, sandboxed, permissions: sandboxed ? permissions : null });
}

function isGranted(situation: CommandSituation, sandboxed: boolean): boolean {
  return situation.grants.allowsCommand(keyOf(situation, sandboxed));
}

/**
 * Whether rules allow all that the command is. Inside the sandbox, what is known to be harmless needs no rule beside what
 * has one.
 */
function isAllowed({ request: { command }, rules: { rules } }: CommandSituation, goesBeyond: boolean): boolean {
  const { commands } = command;
  if (commands === null) return false;
  const allowing = rules.filter(({ decision }) => decision === 'allow');
  const isByRule = (words: readonly string[]) => allowing.some((rule) => matchesPrefix(words, rule));
  if (!commands.some(({ words }) => isByRule(words))) return false;
  return commands.every(({ words }) => isByRule(words) || (!goesBeyond && isHarmless(words, { confined: false })));
}

/** Whether all of it is known to do no more than look. */
function looks({ commands }: ParsedCommand, confined: boolean): boolean {
  return commands?.every(({ words }) => isHarmless(words, { confined })) ?? false;
}

/** git that only looks has no need to go beyond the sandbox, where a repository may name the programs that git runs. */
function looksWithGit(command: ParsedCommand): boolean {
  return looks(command, true) && !looks(command, false);
}

/** What the model is told where a rule forbids what it wants. */
export function forbidden({ rule }: StrictRule): string {
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
  const location = problem.line === null ? problem.path : `${problem.path}:${problem.line}`;
  return `Rules that may forbid this cannot be read: ${location}: ${problem.message}.`;
}

function unasked(policy: AskForApproval, reason: string): string {
  const why = typeof policy === 'string' ? `The approval policy is ${policy}` : 'The approval policy has no questions about rules';
  return `Rejected: ${reason} ${why}: nobody is asked.`;
}
