import type { LogEntry } from '../../store/log-entry.ts';
import type { ThreadRecord } from '../../store/thread-record.ts';
import { threadPreview } from '../prompt/thread-preview.ts';

/** The fields of a new thread that depend on the history that it begins with. */
export function historyFacts(
  history: readonly LogEntry[],
): Pick<ThreadRecord, 'listed' | 'preview'> {
  const listed = history.some((entry) => entry.kind === 'turnStarted');
  for (const entry of history) {
    if (entry.kind === 'item' && entry.item.type === 'userMessage') {
      return { listed, preview: threadPreview(entry.item.content) };
    }
  }
  return { listed, preview: '' };
}
