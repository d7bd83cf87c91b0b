import type { ResponseItem, ThreadGoal } from '../protocol/generated/types.ts';
import { contextMessage, escapeTags } from './context-message.ts';

/** What opens a turn that nobody asked for: the goal, and how to go on with it. `idle`: the last such turn called no tool. */
export function goalTurnMessage(goal: ThreadGoal, { idle }: { idle: boolean }): ResponseItem {
  return goalMessage(`This thread works towards a goal, and begins turns by itself until that is reached. Nobody has spoken since the last turn.

${objectiveText(goal)}

${spentText(goal)}

Take the next step now.
- Find out how things stand before you rely on what was said earlier.
- Work for all that the objective asks for, not for a part of it in its place. What does not fit into this turn is for the next.
- Call update_goal with "complete" once everything is done and you have checked that it is; not because the tokens run out.
- Call update_goal with "blocked" when you cannot go on without the user, and say what is missing.${idle ? `\n\n${IDLE}` : ''}`);
}

const IDLE = 'Your last turn called no tool. If this one calls none either, the thread stops working on the goal.';

/** Said in a turn under way, when a client has given the goal other words. */
export function goalEditedMessage(goal: ThreadGoal): ResponseItem {
  return goalMessage(`The user has changed the goal while you work. What follows replaces it: drop what only the earlier one asked for.

${objectiveText(goal)}

${spentText(goal)}`);
}

/** Said in a turn under way, when it has used up the goal's tokens. */
export function goalBudgetMessage(goal: ThreadGoal): ResponseItem {
  return goalMessage(`The goal's tokens are used up. ${spentText(goal)}

Begin nothing new. Leave the work in a state that can be taken up again, and tell the user what is done, what is not, and what
should come next. Call update_goal with "complete" only if the objective is reached already.`);
}

function goalMessage(text: string): ResponseItem {
  return contextMessage('user', [`<thread_goal>\n${text}\n</thread_goal>`]);
}

function objectiveText({ objective }: ThreadGoal): string {
  return `The objective, in the words of whoever set it:\n<objective>\n${escapeTags(objective)}\n</objective>`;
}

function spentText({ tokensUsed, tokenBudget }: ThreadGoal): string {
  if (tokenBudget === null) return `Tokens used so far: ${tokensUsed}; there is no limit.`;
  return `Tokens used so far: ${tokensUsed} of ${tokenBudget}.`;
}
