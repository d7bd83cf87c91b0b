import type { ThreadGoalStatus } from '../protocol/generated/types.ts';

/** The goal that a thread works towards over several turns. Times are Unix milliseconds. */
export interface GoalRecord {
  objective: string;
  /** The model set the objective. Absent: a client did. */
  isModels?: true;
  status: ThreadGoalStatus;
  /** Null: no limit. */
  tokenBudget: number | null;
  tokensUsed: number;
  timeUsedMs: number;
  createdAtMs: number;
  updatedAtMs: number;
  /** A turn was interrupted: the thread starts no turn by itself until the user sends input. */
  awaitsUser: boolean;
}
