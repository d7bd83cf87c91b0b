import type { LogEntry, ThreadRecord } from '../store/thread-store.ts';
import { threadPreview } from './prompt/thread-preview.ts';

/** What a history that is given says of the thread that begins with it. */
export function historyFacts(history: readonly LogEntry[]): Pick<ThreadRecord, 'listed' | 'preview'> {
  const listed = history.some((entry) => entry.kind === 'turnStarted');
  for (const entry of history) {
    if (entry.kind === 'item' && entry.item.type === 'userMessage') {
      return { listed, preview: threadPreview(entry.item.content) };
    }
  }
  return { listed, preview: '' };
}
