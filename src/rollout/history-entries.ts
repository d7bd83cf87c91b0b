import type { Ids } from '../base/ids.ts';
import { inSlices } from '../base/in-slices.ts';
import type { ResponseItem, UntimedItem, UserInput } from '../protocol/generated/types.ts';
import type { Author, LogEntry } from '../store/log-entry.ts';
import { isUserMessage, writtenBy } from './author-of.ts';
import { beginItem, completeItem } from './begin-item.ts';

/** The work for an item, in the units of `EventLoopYield`. */
const ITEM_UNITS = 20;

/**
 * Makes the log of a thread that begins with a given history: every item for the model, and the
 * items that clients see. A turn begins at each user message. Lets other work run in between.
 */
export async function historyEntries(
  history: readonly ResponseItem[],
  { ids, now }: { ids: Ids; now: number },
): Promise<LogEntry[]> {
  const entries: LogEntry[] = [];
  let turnId: string | null = null;
  const end = () => {
    if (turnId !== null)
      entries.push({
        kind: 'turnEnded',
        turnId,
        status: 'completed',
        error: null,
        completedAtMs: now,
        durationMs: 0,
      });
  };
  for await (const source of inSlices(history, ITEM_UNITS)) {
    if (turnId === null || isUserMessage(source)) {
      end();
      turnId = ids.next();
      entries.push({ kind: 'turnStarted', turnId, startedAtMs: now });
    }
    const item = shownItem(source, ids);
    if (item !== null)
      entries.push({ kind: 'item', turnId, item, startedAtMs: null, completedAtMs: null });
    entries.push(importedEntry(turnId, source));
  }
  end();
  return entries;
}

/**
 * The entry of an item that another program stored. The text of a message tells whether it is
 * context. Otherwise it is in the user's name, and nothing says that the user typed it.
 */
export function importedEntry(
  turnId: string | null,
  item: ResponseItem,
): Extract<LogEntry, { kind: 'model' }> {
  const author = inNameOfUser(writtenBy(item));
  return { kind: 'model', turnId, item, ...(author === null ? {} : { author }) };
}

function inNameOfUser(author: Author | null): Author | null {
  return author === 'user' ? 'client' : author;
}

/**
 * Returns the item that clients see for an item that the model read or wrote, or null if there is
 * none. `isTyped`: the user has typed it.
 */
export function shownItem(source: ResponseItem, ids: Ids, isTyped = false): UntimedItem | null {
  if (source.type === 'message' && (isTyped || isUserMessage(source)))
    return { type: 'userMessage', id: ids.next(), clientId: null, content: userContent(source) };
  const draft = beginItem(source, ids.next());
  return draft === null ? null : completeItem(draft, source, false);
}

function userContent(message: Extract<ResponseItem, { type: 'message' }>): UserInput[] {
  return message.content.flatMap((part): UserInput[] => {
    if (part.type === 'input_image')
      return 'image_url' in part && typeof part.image_url === 'string'
        ? [{ type: 'image', url: part.image_url }]
        : [];
    return 'text' in part && typeof part.text === 'string'
      ? [{ type: 'text', text: part.text, text_elements: [] }]
      : [];
  });
}
