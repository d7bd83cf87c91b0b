import type { Ids } from '../base/ids.ts';
import { inSlices } from '../base/in-slices.ts';
import type { ResponseItem } from '../protocol/generated/types.ts';
import type { Author, LogEntry } from '../store/log-entry.ts';
import { isUserMessage, writtenBy } from './author-of.ts';
import { rolloutMessageText } from './begin-item.ts';
import { shownItem } from './history-entries.ts';

/** The work for an entry, in the units of `EventLoopYield`. */
const ENTRY_UNITS = 10;

/** A part of the log while the rollout is read. */
export type RolloutDraft =
  | LogEntry
  | ModelDraft
  | {
      kind: 'summarized';
      turnId: string | null;
      replacement: ResponseItem[] | null;
      summary: string;
    };

/** `isTyped`: the user has typed the message, also if its text looks like one of a harness. */
type ModelDraft = Extract<LogEntry, { kind: 'model' }> & { isTyped?: true };

/**
 * Makes the log to store from the parts that a rollout has, in their order. Adds the authors of
 * what models read, and the items that clients see if the file records none. Lets other work run
 * in between.
 */
export async function rolloutEntries(
  drafts: readonly RolloutDraft[],
  ids: Ids,
): Promise<LogEntry[]> {
  const recordsItems = drafts.some((draft) => draft.kind === 'item');
  const authorOf = recordedAuthors(drafts);
  const entries: LogEntry[] = [];
  let read: ResponseItem[] = [];
  for await (const draft of inSlices(drafts, ENTRY_UNITS)) {
    if (draft.kind === 'summarized') {
      const items = draft.replacement ?? summarized(read, draft.summary);
      const authors = items.map((item) =>
        isSummary(item, draft.summary) ? 'server' : authorOf(item),
      );
      entries.push({ kind: 'compacted', turnId: draft.turnId, items, authors });
      read = [...items];
      continue;
    }
    if (draft.kind !== 'model') {
      entries.push(draft);
      continue;
    }
    read.push(draft.item);
    if (!recordsItems) entries.push(...shown(draft, ids));
    const { isTyped, ...entry }: ModelDraft = draft;
    const author = isTyped ? null : authorOf(draft.item);
    entries.push(author === null ? entry : { ...entry, author });
  }
  return entries;
}

/** The entries of the item that clients see for a model item, in a file without recorded items. */
function shown(draft: ModelDraft, ids: Ids): LogEntry[] {
  const item = draft.turnId === null ? null : shownItem(draft.item, ids, draft.isTyped);
  return item === null || draft.turnId === null
    ? []
    : [{ kind: 'item', turnId: draft.turnId, item, startedAtMs: null, completedAtMs: null }];
}

/** Whether a model wrote this message as a summary, though it has the role of the user. */
function isSummary(item: ResponseItem, summary: string): boolean {
  return (
    item.type === 'message' &&
    item.role === 'user' &&
    summary !== '' &&
    rolloutMessageText(item).includes(summary)
  );
}

function summarized(read: readonly ResponseItem[], summary: string): ResponseItem[] {
  return [
    ...read.filter(isUserMessage),
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: summary }] },
  ];
}

/**
 * Tells the authors of messages. The user has typed only those that the file also records as sent
 * by the user.
 */
function recordedAuthors(drafts: readonly RolloutDraft[]): (item: ResponseItem) => Author | null {
  const sent = new Set<string>();
  for (const draft of drafts) {
    if (draft.kind !== 'item' || draft.item.type !== 'userMessage') continue;
    sent.add(
      bare(draft.item.content.map((part) => (part.type === 'text' ? part.text : '')).join('')),
    );
  }
  return (item) => {
    const author = writtenBy(item);
    return author === 'user' && item.type === 'message' && !sent.has(bare(rolloutMessageText(item)))
      ? 'client'
      : author;
  };
}

/** Programs divide a message into parts in different ways. */
function bare(text: string): string {
  return text.replace(/\s+/g, '');
}
