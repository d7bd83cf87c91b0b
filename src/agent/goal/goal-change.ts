import {
  emptyObjective,
  invalidTokenBudget,
  noGoal,
  objectiveTooLong,
} from '../../protocol/errors/goal-errors.ts';
import type {
  ThreadGoal,
  ThreadGoalStatus,
  TokenUsageBreakdown,
} from '../../protocol/generated/types.ts';
import type { RpcError } from '../../protocol/rpc-error.ts';
import type { GoalRecord } from '../../store/goal-record.ts';
import type { ThreadPatch, ThreadRecord } from '../../store/thread-record.ts';
import { previewPatch, textPreview } from '../prompt/thread-preview.ts';
import { seconds } from '../turn/turn-view.ts';

/** The longest objective, in characters. */
const OBJECTIVE_CHARS_MAX = 4_000;

/** A change of a goal by a client or the model. Null fields stay as they are. */
export interface GoalChange {
  objective: string | null;
  /** The model makes the change. Absent: a client does. */
  isModels?: true;
  status: ThreadGoalStatus | null;
  /** In tokens. Null removes the budget; undefined leaves it as it is. */
  tokenBudget: number | null | undefined;
}

/** Returns the error of an invalid change, or null. Does not depend on the previous goal. */
export function goalProblem({ objective, tokenBudget }: GoalChange): RpcError | null {
  if (objective !== null) {
    const length = [...objective.trim()].length;
    if (length === 0) return emptyObjective();
    if (length > OBJECTIVE_CHARS_MAX) return objectiveTooLong(OBJECTIVE_CHARS_MAX, length);
  }
  return typeof tokenBudget === 'number' && !(tokenBudget > 0 && Number.isSafeInteger(tokenBudget))
    ? invalidTokenBudget()
    : null;
}

/**
 * The goal after a valid change, which keeps the counters. Throws `noGoal` if there was no goal and
 * the change has no objective.
 */
export function changedGoal(
  before: GoalRecord | null,
  change: GoalChange,
  { threadId, nowMs }: { threadId: string; nowMs: number },
): GoalRecord {
  const objective = change.objective?.trim() ?? before?.objective;
  if (objective === undefined) throw noGoal(threadId);
  const isModels = change.objective === null ? before?.isModels : change.isModels;
  return withinBudget({
    objective,
    ...(isModels && { isModels }),
    status: change.status ?? before?.status ?? 'active',
    tokenBudget:
      change.tokenBudget === undefined ? (before?.tokenBudget ?? null) : change.tokenBudget,
    tokensUsed: before?.tokensUsed ?? 0,
    timeUsedMs: before?.timeUsedMs ?? 0,
    createdAtMs: before?.createdAtMs ?? nowMs,
    updatedAtMs: nowMs,
    awaitsUser:
      before?.awaitsUser === true && change.objective === null && change.status !== 'active',
  });
}

/**
 * Lists a thread that a client has given a goal. The objective is its preview if it has none yet.
 */
export function listingPatch(record: ThreadRecord, { objective }: GoalChange): ThreadPatch {
  return {
    listed: true,
    ...(objective === null ? {} : previewPatch(record, textPreview(objective.trim()))),
  };
}

/**
 * Keeps a thread with an active goal from beginning turns by itself until the next input of a
 * client.
 */
export function awaitingUser(goal: GoalRecord | null): ThreadPatch {
  return goal?.status === 'active' && !goal.awaitsUser
    ? { goal: { ...goal, awaitsUser: true } }
    : {};
}

/**
 * Whether a turn's work is charged to this goal. A turn that exceeds the budget is charged to its
 * end.
 */
function isCounted({ status }: GoalRecord): boolean {
  return status === 'active' || status === 'budgetLimited';
}

/** The goal after this work is charged to it. */
export function charged(
  goal: GoalRecord,
  { tokens, ms, nowMs }: { tokens: number; ms: number; nowMs: number },
): GoalRecord {
  if (!isCounted(goal) || (tokens === 0 && ms === 0)) return goal;
  return withinBudget({
    ...goal,
    tokensUsed: goal.tokensUsed + tokens,
    timeUsedMs: goal.timeUsedMs + ms,
    updatedAtMs: nowMs,
  });
}

/**
 * The tokens of a response that count for a goal: its input without the cached part, and its
 * output.
 */
export function chargedTokens({
  inputTokens,
  cachedInputTokens,
  outputTokens,
}: TokenUsageBreakdown): number {
  return Math.max(0, inputTokens - cachedInputTokens) + outputTokens;
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
