import { type ApprovalKind, asksAboutSkills, whyNotAsked } from '../approvals/may-ask.ts';
import { isHarmless, onlyReads, readsWithGit } from '../harmless/is-harmless.ts';
import { leavingDoubt } from '../outside/leaving-doubt.ts';
import { hasBounds } from '../permissions/sandbox-bounds.ts';
import { ruleAllows } from '../rules/rule-allows.ts';
import { asksRule, asksUnreadable, forbidden, ruleText } from '../rules/rule-text.ts';
import { strictRule } from '../rules/strict-rule.ts';
import { untraceableRule } from '../rules/untraceable-rule.ts';
import { beyondReason, beyondRefusal } from './beyond-refusal.ts';
import { commandKey } from './command-key.ts';
import type { CommandSituation, CommandVerdict } from './command-verdict.ts';
import { proposeAmendment } from './propose-amendment.ts';
import { removesByForce } from './removes-by-force.ts';

/**
 * Decides about a command, in this order: rules that forbid it, grants for the session, rules that
 * require approval, rules that allow it, rules that forbid programs which the command may start
 * without naming them, whether it runs a skill's file, whether it removes files by force, the
 * approval policy.
 */
export function judgeCommand(situation: CommandSituation): CommandVerdict {
  if (!situation.staysInside) return judge(situation);
  if (situation.request.escalates) return refuse(STAYS_INSIDE);
  const verdict = judge(situation);
  return verdict.verdict === 'run' ? { ...verdict, askIfRefused: false } : verdict;
}

function judge(situation: CommandSituation): CommandVerdict {
  const { request, sandboxPolicy, rules } = situation;
  const bounded = hasBounds(sandboxPolicy);
  const sandboxed = bounded && !request.escalates;
  const goesBeyond = bounded && (request.escalates || request.permissions !== null);
  const strict = strictRule(request.command, rules);
  if (strict?.decision === 'forbidden') return refuse(forbidden(strict));
  if (isGranted(situation, sandboxed)) return run(sandboxed);
  const doubt = strict === null ? asksUnreadable(rules.problems) : asksRule(strict);
  if (doubt !== null)
    return byKind(situation, {
      kind: 'rules',
      goesBeyond,
      sandboxed,
      reason: doubt,
      settles: false,
    });
  // If a name may run another program, rules that allow by name count only in the sandbox.
  const isByName = () => (sandboxed && !goesBeyond) || situation.trustsNames();
  if (isAllowed(situation, goesBeyond) && isByName())
    return byAllowingRule(situation, { goesBeyond, sandboxed });
  const fenced =
    byFence(situation, { goesBeyond, sandboxed, isByName }) ??
    bySkill(situation, { goesBeyond, sandboxed });
  return (
    fenced ??
    byForce(situation, { goesBeyond, sandboxed }) ??
    byPolicy(situation, { goesBeyond, sandboxed, bounded })
  );
}

interface KindQuestion {
  kind: ApprovalKind;
  goesBeyond: boolean;
  sandboxed: boolean;
  reason: string;
  /** Whether a rule that allows the command would make the question unnecessary. */
  settles: boolean;
}

/**
 * For commands that need approval, or may need it, for a reason that belongs to this kind of
 * approval.
 */
function byKind(
  situation: CommandSituation,
  { kind, goesBeyond, sandboxed, reason, settles }: KindQuestion,
): CommandVerdict {
  const { approvalPolicy, request } = situation;
  const why = whyNotAsked(approvalPolicy, kind);
  if (why !== null) return refuse(`Rejected: ${reason} Nobody can be asked: ${why}.`);
  const refusal = goesBeyond ? beyondRefusal(approvalPolicy) : null;
  if (refusal !== null) return refuse(refusal);
  const question = ask(situation, {
    sandboxed,
    reason: goesBeyond ? `${reason} ${beyondReason(request)}` : reason,
  });
  return settles ? question : { ...question, proposedAmendment: null };
}

/**
 * For commands that may start a forbidden program without naming it. Returns null for all others.
 */
function byFence(
  situation: CommandSituation,
  {
    goesBeyond,
    sandboxed,
    isByName,
  }: { goesBeyond: boolean; sandboxed: boolean; isByName: () => boolean },
): CommandVerdict | null {
  const { request, rules, project } = situation;
  if (!rules.rules.some(({ decision }) => decision === 'forbidden')) return null;
  const trusted = situation.trustsNames();
  const rule = untraceableRule(request.command, rules, {
    trusted,
    allowed: isByName(),
    project,
    goesBeyond,
  });
  if (rule === null) return null;
  const names = trusted ? '' : ' Names of programs may mean files that commands can write.';
  const reason = `A rule forbids ${ruleText(rule)}, and heddle cannot tell whether this command runs it.${names}`;
  return byKind(situation, { kind: 'rules', goesBeyond, sandboxed, reason, settles: true });
}

/**
 * For commands that may run a file of a skill, if the approval policy asks about them. Returns null
 * for all others.
 */
function bySkill(
  situation: CommandSituation,
  { goesBeyond, sandboxed }: { goesBeyond: boolean; sandboxed: boolean },
): CommandVerdict | null {
  const { skillFile, approvalPolicy } = situation;
  if (skillFile === null || !asksAboutSkills(approvalPolicy)) return null;
  const reason = `The command may run ${skillFile}.`;
  return byKind(situation, {
    kind: 'skill_approval',
    goesBeyond,
    sandboxed,
    reason,
    settles: true,
  });
}

/**
 * For commands that remove files by force. They need approval, in the sandbox too. In the sandbox,
 * what is unlikely is not asked about. If the policy allows no question, its bounds decide, and
 * without bounds the command is refused if it is certain. Returns null for all others.
 */
function byForce(
  situation: CommandSituation,
  { goesBeyond, sandboxed }: { goesBeyond: boolean; sandboxed: boolean },
): CommandVerdict | null {
  const { request, approvalPolicy, sandboxPolicy } = situation;
  const force = removesByForce(request.command);
  if (force === null || (force === 'unlikely' && sandboxed)) return null;
  const why = whyNotAsked(approvalPolicy, 'sandbox_approval');
  const isRefused = force === 'certain' && sandboxPolicy.type === 'dangerFullAccess';
  if (why !== null)
    return isRefused
      ? refuse(`Rejected: ${FORCES} Nobody can be asked: ${why}. ${UNFORCED}`)
      : null;
  return byKind(situation, {
    kind: 'sandbox_approval',
    goesBeyond,
    sandboxed,
    reason: FORCES,
    settles: true,
  });
}

/** For commands that no rule decides about. */
function byPolicy(
  situation: CommandSituation,
  { goesBeyond, sandboxed, bounded }: { goesBeyond: boolean; sandboxed: boolean; bounded: boolean },
): CommandVerdict {
  return goesBeyond ? byPolicyBeyond(situation, sandboxed) : byPolicyInside(situation, bounded);
}

/**
 * For commands that a rule allows. A command that may run files which other commands can change
 * needs approval to leave the sandbox.
 */
function byAllowingRule(
  situation: CommandSituation,
  { goesBeyond, sandboxed }: { goesBeyond: boolean; sandboxed: boolean },
): CommandVerdict {
  const { request, leaving, approvalPolicy } = situation;
  if (!goesBeyond) return run(sandboxed);
  if (readsWithGit(request.command)) return READ_ONLY_RUN;
  const isKnown = leaving !== null && (sandboxed || request.identity !== null);
  const doubt = isKnown
    ? leavingDoubt(request.command, request.cwd, leaving)
    : 'heddle does not know all files that it depends on';
  if (doubt === null) return run(sandboxed);
  const why = `a rule allows this command, but beyond the sandbox it may run code or change files for other commands: ${doubt}.`;
  const refusal = beyondRefusal(approvalPolicy);
  if (refusal !== null) return refuse(`Rejected: ${why} ${INSIDE_INSTEAD}`);
  const reason = `${beyondReason(request)} ${why.charAt(0).toUpperCase()}${why.slice(1)}`;
  return {
    verdict: 'ask',
    reason,
    sandboxed,
    key: keyOf(situation, sandboxed),
    proposedAmendment: null,
  };
}

/** For commands that ask to leave the sandbox or to get more permissions in it. */
function byPolicyBeyond(situation: CommandSituation, sandboxed: boolean): CommandVerdict {
  const refusal = beyondRefusal(situation.approvalPolicy);
  return refusal === null
    ? ask(situation, { sandboxed, reason: beyondReason(situation.request) })
    : refuse(refusal);
}

/** For commands that stay within the bounds of the sandbox policy, if it has any. */
function byPolicyInside(situation: CommandSituation, bounded: boolean): CommandVerdict {
  const { request, approvalPolicy } = situation;
  switch (approvalPolicy) {
    case 'untrusted':
      if ((bounded || situation.trustsNames()) && onlyReads(request.command, bounded))
        return bounded ? READ_ONLY_RUN : run(false);
      return ask(situation, { sandboxed: bounded, reason: request.justification });
    case 'on-failure':
      return bounded && isGranted(situation, false)
        ? run(false)
        : { ...RUN, sandboxed: bounded, askIfRefused: bounded };
    default:
      return run(bounded);
  }
}

type Question = Extract<CommandVerdict, { verdict: 'ask' }>;

const STAYS_INSIDE =
  'Rejected: the administrator of this machine hides files from all commands, so no command runs outside the sandbox. Run it in the sandbox.';
const RUN = { verdict: 'run', sandboxed: true, readOnly: false, askIfRefused: false } as const;
const READ_ONLY_RUN = { ...RUN, readOnly: true } as const;
const FORCES =
  'The command removes files by force (`rm -f`), or may do so, and that needs approval.';
const UNFORCED =
  'Remove only what you have to, and without force: `rm` and `rm -r` need no approval if `--` stands before names that only the shell knows.';
const INSIDE_INSTEAD = 'Run it inside the sandbox, or do without it.';

function run(sandboxed: boolean): CommandVerdict {
  return { ...RUN, sandboxed };
}

function refuse(reason: string): CommandVerdict {
  return { verdict: 'refuse', reason };
}

function ask(
  situation: CommandSituation,
  { sandboxed, reason }: { sandboxed: boolean; reason: string | null },
): Question {
  const key = keyOf(situation, sandboxed);
  const proposedAmendment =
    situation.hasFixedProgram && key !== null ? proposeAmendment(situation.request) : null;
  return { verdict: 'ask', reason, sandboxed, key, proposedAmendment };
}

/**
 * The key for grants. Null: the command goes beyond the sandbox, and depends on files that cannot
 * be compared.
 */
function keyOf(
  { request: { command, cwd, permissions, identity } }: CommandSituation,
  sandboxed: boolean,
): string | null {
  if ((!sandboxed || permissions !== null) && identity === null) return null;
  return commandKey({
    argv: command.argv,
    cwd,
    sandboxed,
    permissions: sandboxed ? permissions : null,
    identity: identity ?? new Map(),
  });
}

function isGranted(situation: CommandSituation, sandboxed: boolean): boolean {
  const key = keyOf(situation, sandboxed);
  return key !== null && situation.grants.allowsCommand(key);
}

/**
 * Whether rules allow every simple command in it. Inside the sandbox, harmless commands need no
 * rule, if at least one command has one.
 */
function isAllowed(
  { request: { command }, rules: { rules }, project }: CommandSituation,
  goesBeyond: boolean,
): boolean {
  const { commands } = command;
  if (commands === null) return false;
  const isByRule = (words: readonly string[]) =>
    rules.some((rule) => ruleAllows(rule, words, { project, goesBeyond }));
  if (!commands.some(({ words }) => isByRule(words))) return false;
  return commands.every(
    ({ words }) => isByRule(words) || (!goesBeyond && isHarmless(words, { confined: false })),
  );
}
