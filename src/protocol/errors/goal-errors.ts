import { type RpcError, refused } from '../rpc-error.ts';

export function emptyObjective(): RpcError {
  return refused('empty_objective', 'goal objective must not be empty');
}

export function objectiveTooLong(charsMax: number, charsFound: number): RpcError {
  const text = `goal objective must be at most ${charsMax} characters, not ${charsFound}`;
  return refused('objective_too_long', text, { maxChars: charsMax, actualChars: charsFound });
}

export function invalidTokenBudget(): RpcError {
  return refused(
    'invalid_token_budget',
    'goal token budget must be positive, or null for no budget',
  );
}

/** For a change that needs an existing goal. */
export function noGoal(threadId: string): RpcError {
  return refused(
    'goal_not_found',
    `cannot update the goal of thread ${threadId}: no goal exists, and no objective was given`,
    {
      threadId,
    },
  );
}

export function goalsDisabled(): RpcError {
  return refused('goals_disabled', 'goals feature is disabled: features.goals is false');
}

export function noGoalsInEphemeral(threadId: string): RpcError {
  return refused('thread_ephemeral', `ephemeral thread does not support goals: ${threadId}`, {
    threadId,
  });
}
