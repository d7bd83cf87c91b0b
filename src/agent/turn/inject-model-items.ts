import type { ResponseItem } from '../../protocol/generated/types.ts';
import { writtenBy } from '../../rollout/author-of.ts';
import type { Author, LogEntry } from '../../store/log-entry.ts';
import type { ThreadPatch } from '../../store/thread-record.ts';
import type { ThreadContext } from '../thread-context.ts';
import { modelEntries } from './turn-input.ts';

interface InjectDeps {
  author: Author | null;
  thread: Pick<ThreadContext, 'state' | 'outbox'>;
  /** The first context that the model of a thread reads, if it is not stored. */
  firstContext(): Promise<{ entries: LogEntry[]; patch: ThreadPatch }>;
}

/**
 * Stores items for the model of a thread. Without an author, they are a client's. During a turn the
 * model reads them after its current response, and is asked again. Call the returned function after
 * the request is answered.
 */
export async function injectModelItems(
  items: ResponseItem[],
  { author, thread: { state, outbox }, firstContext }: InjectDeps,
): Promise<() => void> {
  const { turn } = state;
  const reservation = turn?.reserveInput({ isDeferred: true }) ?? null;
  if (turn === null || reservation === null) {
    const { entries, patch } = await firstContext();
    await outbox.commit({
      entries: [...entries, ...entriesOf(items, { turnId: null, author })],
      patch,
    });
    state.keep(patch);
    return () => {};
  }
  try {
    const entries = entriesOf(items, { turnId: turn.id, author });
    await outbox.commit({
      entries: entries.map((entry): LogEntry => ({ ...entry, deferred: true })),
    });
  } catch (error) {
    reservation.release();
    throw error;
  }
  return () => reservation.deliver('deferred');
}

function entriesOf(
  items: readonly ResponseItem[],
  { turnId, author }: { turnId: string | null; author: Author | null },
) {
  return items.flatMap((item) => modelEntries(turnId, [item], author ?? injectedBy(item)));
}

/**
 * The author of a message that a client injects. The user need not have typed it. The server tells
 * nothing of it again, even if it looks like context.
 */
function injectedBy(item: ResponseItem): Author | null {
  const author = writtenBy(item);
  if (author === 'user') return 'client';
  return author === 'context' ? 'server' : author;
}
