import { authorOf } from '../../rollout/author-of.ts';
import type { GoalRecord } from '../../store/goal-record.ts';
import type { AuthoredItem } from '../../store/model-items.ts';
import type { ThreadAbove } from '../lineage/agent-tree.ts';

/** Whether the user has said or approved this. */
function isUsers(read: AuthoredItem): boolean {
  const author = authorOf(read);
  return author === 'user' || author === 'approval';
}

/**
 * The messages, answers and approvals of users in a history, and the questions that they answer:
 * those are the words of the agent.
 */
export function userWords(history: readonly AuthoredItem[]): AuthoredItem[] {
  const ids = new Set(
    history.filter(isUsers).map(({ item }) => ('call_id' in item ? item.call_id : null)),
  );
  const isAnswered = ({ item }: AuthoredItem) =>
    item.type === 'function_call' && ids.has(item.call_id);
  return history.flatMap((read): AuthoredItem[] =>
    isUsers(read) ? [read] : isAnswered(read) ? [{ ...read, author: 'parent' }] : [],
  );
}

/** The users' words in a thread above an agent, its goal first. */
export function saidIn({ goal, history }: ThreadAbove): AuthoredItem[] {
  return [...goalAsUserWords(goal), ...userWords(history)];
}

/** The goal that users have set for a thread, as what they said. */
function goalAsUserWords(goal: GoalRecord | null): AuthoredItem[] {
  if (goal === null || goal.isModels) return [];
  const text = `The goal of the thread: ${goal.objective}`;
  return [
    {
      item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
      author: 'user',
    },
  ];
}
