import type { AuthoredItem } from '../../store/model-items.ts';
import type { ThreadStore } from '../../store/thread-store.ts';
import { OrderedPrompt } from './ordered-prompt.ts';

/** A longer history is read without images and huge outputs. */
const READ_BYTES = 1024 * 1024;

/**
 * The history of a thread that is not loaded, as its model would read it. Rejects with the store's
 * error.
 */
export async function readHistory(
  threadId: string,
  store: Pick<ThreadStore, 'readModelEntries'>,
): Promise<readonly AuthoredItem[]> {
  const prompt = new OrderedPrompt(READ_BYTES);
  for (let cursor: string | null = null; ; ) {
    const slice = await store.readModelEntries(threadId, { cursor });
    for (const entry of slice.entries) prompt.order.add(entry);
    if (!slice.more) return prompt.read;
    cursor = slice.cursor;
  }
}
