import { authorOf } from '../../rollout/author-of.ts';
import type { GoalRecord } from '../../store/goal-record.ts';
import type { AuthoredItem } from '../../store/model-items.ts';
import type { ThreadStore } from '../../store/thread-store.ts';
import { OrderedPrompt } from '../prompt/ordered-prompt.ts';

/** A longer history is read without images and huge outputs. */
const READ_BYTES = 1024 * 1024;

/** Whether the user has said or approved this. */
export function isUsers(read: AuthoredItem): boolean {
  const author = authorOf(read);
  return author === 'user' || author === 'approval';
}

/** The messages and approvals of users in a thread that is not loaded. Rejects with the store's error. */
export async function saidIn(threadId: string, store: Pick<ThreadStore, 'readModelEntries'>): Promise<AuthoredItem[]> {
  const prompt = new OrderedPrompt(READ_BYTES);
  for (let cursor: string | null = null; ; ) {
    const slice = await store.readModelEntries(threadId, { cursor });
    for (const entry of slice.entries) prompt.order.add(entry);
    if (!slice.more) return prompt.read.filter(isUsers);
    cursor = slice.cursor;
  }
}

/** The goal that users have set for a thread, as what they said. */
export function saidAsGoal(goal: GoalRecord | null): AuthoredItem[] {
  if (goal === null || goal.isModels) return [];
  const text = `The goal of the thread: ${goal.objective}`;
  return [{ item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] }, author: 'user' }];
}
