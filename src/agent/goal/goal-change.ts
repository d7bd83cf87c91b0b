import type { ThreadGoal, ThreadGoalStatus } from '../../protocol/generated/types.ts';
import { emptyObjective, invalidTokenBudget, noGoal, objectiveTooLong, type RpcError } from '../../protocol/rpc-error.ts';
import type { GoalRecord, ThreadPatch, ThreadRecord } from '../../store/thread-store.ts';
import { textPreview } from '../prompt/thread-preview.ts';
import { seconds } from '../turn/turn-view.ts';

/** The longest objective, in characters. */
const OBJECTIVE_CHARS_MAX = 4_000;

/** What a client or the model says of a goal. Null: nothing. */
export interface GoalChange {
  objective: string | null;
  status: ThreadGoalStatus | null;
  /** In tokens. Null takes the budget away; undefined says nothing. */
  tokenBudget: number | null | undefined;
}

/** What is wrong with a change, whatever goal there is; null where nothing is. */
export function goalProblem({ objective, tokenBudget }: GoalChange): RpcError | null {
  if (objective !== null) {
    const length = [...objective.trim()].length;
    if (length === 0) return emptyObjective();
    if (length > OBJECTIVE_CHARS_MAX) return objectiveTooLong(OBJECTIVE_CHARS_MAX, length);
  }
  return typeof tokenBudget === 'number' && !(tokenBudget > 0 && Number.isSafeInteger(tokenBudget)) ? invalidTokenBudget() : null;
}

/** The goal after a change that has no problem: what it leaves out stays, counters too. Throws where there is none to begin with. */
export function changedGoal(
  before: GoalRecord | null,
  change: GoalChange,
  { threadId, nowMs }: { threadId: string; nowMs: number },
): GoalRecord {
  const objective = change.objective?.trim() ?? before?.objective;
  if (objective === undefined) throw noGoal(threadId);
  return withinBudget({
    objective,
    status: change.status ?? before?.status ?? 'active',
    tokenBudget: change.tokenBudget === undefined ? (before?.tokenBudget ?? null) : change.tokenBudget,
    tokensUsed: before?.tokensUsed ?? 0,
    timeUsedMs: before?.timeUsedMs ?? 0,
    createdAtMs: before?.createdAtMs ?? nowMs,
    updatedAtMs: nowMs,
    awaitsUser: before?.awaitsUser === true && change.objective === null && change.status !== 'active',
  });
}

/** What a goal that is stored changes of its thread beside it: one that has said nothing yet is shown by what it is to reach. */
export function previewPatch({ preview }: ThreadRecord, { objective }: GoalChange): ThreadPatch {
  return preview === '' && objective !== null ? { preview: textPreview(objective.trim()) } : {};
}

/** What keeps a thread from going on towards its goal by itself before the user has spoken. */
export function awaitingUser(goal: GoalRecord | null): ThreadPatch {
  return goal?.status === 'active' && !goal.awaitsUser ? { goal: { ...goal, awaitsUser: true } } : {};
}

/** Whether a turn's work is put to this goal's account: a turn that passes the budget is counted to its end. */
function isCounted({ status }: GoalRecord): boolean {
  return status === 'active' || status === 'budgetLimited';
}

/** The goal with more work put to its account. */
export function charged(goal: GoalRecord, { tokens, ms, nowMs }: { tokens: number; ms: number; nowMs: number }): GoalRecord {
  if (!isCounted(goal) || (tokens === 0 && ms === 0)) return goal;
  return withinBudget({ ...goal, tokensUsed: goal.tokensUsed + tokens, timeUsedMs: goal.timeUsedMs + ms, updatedAtMs: nowMs });
}

/** The goal as clients see it. */
export function goalView(threadId: string, goal: GoalRecord): ThreadGoal {
  const { objective, status, tokenBudget, tokensUsed } = goal;
  return {
    threadId,
    objective,
    status,
    tokenBudget,
    tokensUsed,
    timeUsedSeconds: seconds(goal.timeUsedMs),
    createdAt: seconds(goal.createdAtMs),
    updatedAt: seconds(goal.updatedAtMs),
  };
}

function withinBudget(goal: GoalRecord): GoalRecord {
  const spent = goal.tokenBudget !== null && goal.tokensUsed >= goal.tokenBudget;
  return spent && goal.status === 'active' ? { ...goal, status: 'budgetLimited' } : goal;
}
