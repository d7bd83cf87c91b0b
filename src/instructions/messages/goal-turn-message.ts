import type { ResponseItem, ThreadGoal } from '../../protocol/generated/types.ts';
import { contextMessage, escapeTags } from './context-message.ts';

/**
 * The message that begins a turn which the server starts for a goal. `idle`: the last such turn
 * called no tool.
 */
export function goalTurnMessage(goal: ThreadGoal, { idle }: { idle: boolean }): ResponseItem {
  return goalMessage(`This thread works towards a goal and starts turns on its own until the goal is reached. The user has not
written since the last turn.

${objectiveText(goal)}

${spentText(goal)}

Take the next step now.
- Check the current state before you rely on what was said earlier.
- Work towards the whole objective, not only a part of it. Work that does not fit into this turn can wait for the next one.
- Call update_goal with "complete" only when everything is done and you have verified it. Do not mark the goal complete because
  tokens are running out.
- Call update_goal with "blocked" if you cannot continue without the user, and say what is missing.${idle ? `\n\n${IDLE}` : ''}`);
}

const IDLE =
  'Your last turn called no tool. If this turn calls none either, the thread stops working on the goal.';

/** The message for a running turn when a client has changed the goal's objective. */
export function goalEditedMessage(goal: ThreadGoal): ResponseItem {
  return goalMessage(`The user has changed the goal while you are working. The objective below replaces the earlier one. Stop
work that only the earlier one needed.

${objectiveText(goal)}

${spentText(goal)}`);
}

/** The message for a running turn when the goal's token budget is used up. */
export function goalBudgetMessage(goal: ThreadGoal): ResponseItem {
  return goalMessage(`The goal's token budget is used up. ${spentText(goal)}

Do not start anything new. Leave the work in a state that can be resumed. Tell the user what is done, what is not done, and what
should come next. Call update_goal with "complete" only if the objective has already been reached.`);
}

function goalMessage(text: string): ResponseItem {
  return contextMessage('user', [`<thread_goal>\n${text}\n</thread_goal>`]);
}

function objectiveText({ objective }: ThreadGoal): string {
  return `The objective:\n<objective>\n${escapeTags(objective)}\n</objective>`;
}

function spentText({ tokensUsed, tokenBudget }: ThreadGoal): string {
  if (tokenBudget === null) return `Tokens used so far: ${tokensUsed}; there is no limit.`;
  return `Tokens used so far: ${tokensUsed} of ${tokenBudget}.`;
}
