import type { AskForApproval } from '../../protocol/generated/types.ts';

const GRANULAR = [
  'sandbox_approval',
  'rules',
  'mcp_elicitations',
  'request_permissions',
  'skill_approval',
] as const;

/**
 * What can need approval: the kinds of a granular policy, calls of MCP tools whose mode is `auto`,
 * and work that stays in the sandbox.
 */
type Question = (typeof GRANULAR)[number] | 'mcp_auto' | 'in_sandbox';
const QUESTIONS: readonly Question[] = [...GRANULAR, 'mcp_auto', 'in_sandbox'];

type Answer = 'runs' | 'asked' | 'refused';
const BY_ASKING: readonly Answer[] = ['runs', 'refused', 'asked'];
const BY_PERMITTING: readonly Answer[] = ['refused', 'asked', 'runs'];

/**
 * Whether, under the first policy, everything is asked about that the second one asks about, and
 * nothing runs that the second one refuses. What the second one refuses may be asked about.
 */
export function asksAsMuch(one: AskForApproval, other: AskForApproval): boolean {
  // `on-failure` asks after the sandbox has stopped a command, `untrusted` before that.
  if (other === 'on-failure' && one !== 'on-failure' && one !== 'untrusted') return false;
  const asks = (policy: AskForApproval, question: Question, isBounded: boolean) =>
    BY_ASKING.indexOf(answer(policy, question, isBounded));
  return [true, false].every((isBounded) =>
    QUESTIONS.every((each) => asks(one, each, isBounded) >= asks(other, each, isBounded)),
  );
}

/**
 * Whether the first policy refuses everything that the second one refuses, and lets nothing run
 * that the second one asks about. `isBounded`: there is a sandbox.
 */
export function permitsNoMore(
  one: AskForApproval,
  other: AskForApproval,
  isBounded: boolean,
): boolean {
  const permits = (policy: AskForApproval, question: Question) =>
    BY_PERMITTING.indexOf(answer(policy, question, isBounded));
  return QUESTIONS.every((each) => permits(one, each) <= permits(other, each));
}

/** What a policy says where something needs approval. `isBounded`: there is a sandbox. */
function answer(policy: AskForApproval, question: Question, isBounded: boolean): Answer {
  if (question === 'in_sandbox') return policy === 'untrusted' ? 'asked' : 'runs';
  // Only a granular policy can demand this question.
  if (question === 'skill_approval')
    return typeof policy !== 'string' && policy.granular.skill_approval === true ? 'asked' : 'runs';
  // Where nothing is confined, `never` lets these run.
  if (question === 'mcp_auto' && policy === 'never' && !isBounded) return 'runs';
  const kind = question === 'mcp_auto' ? 'mcp_elicitations' : question;
  const isAsked = typeof policy === 'string' ? policy !== 'never' : policy.granular[kind] === true;
  return isAsked ? 'asked' : 'refused';
}
