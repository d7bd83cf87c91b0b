import { EventLoopYield } from '../base/event-loop-yield.ts';
import type { Ids } from '../base/ids.ts';
import type {
  ContentItem,
  ResponseItem,
  TurnError,
  UntimedItem,
} from '../protocol/generated/types.ts';
import type { Author, LogEntry } from '../store/log-entry.ts';
import { isUserMessage, writtenBy } from './author-of.ts';
import { rolloutMessageText } from './begin-item.ts';
import { importedEntry, shownItem } from './history-entries.ts';

/** The work for an entry, in the units of `EventLoopYield`. */
const ENTRY_UNITS = 10;

/** A part of the log while the rollout is read. */
type Draft =
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

interface UnendedTurn {
  id: string;
  startedAtMs: number;
  /**
   * Whether the file records the turn's start. In older files a turn starts at each user message.
   */
  isRecorded: boolean;
  /** Which records of the user's message have been read, in a turn whose start is not recorded. */
  seen: { model: boolean; client: boolean };
  error: TurnError | null;
}

export interface RolloutTurnEnd {
  status: 'completed' | 'interrupted';
  error: TurnError | null;
  completedAtMs: number;
  durationMs: number | null;
}

/**
 * The facts that a file records with an item that clients saw. Null: it does not record one. The
 * time of a record is not that of its item.
 */
export interface ItemRecord {
  turnId: string | null;
  startedAtMs: number | null;
  completedAtMs: number | null;
}

/**
 * Builds a thread's log from the records of a rollout, in the file's order. Every turn gets an end:
 * a turn without a recorded end was cut off, and ends `interrupted` before the next turn or at the
 * end of the file.
 */
export class RolloutLog {
  readonly #ids: Ids;
  #drafts: Draft[] = [];
  #turn: UnendedTurn | null = null;
  #lastTurnId: string | null = null;
  readonly #turnIds = new Set<string>();
  readonly #cutOff = new Set<string>();
  /** Whether the file records turns. If it records one, it records all that follow. */
  #recordsTurns = false;
  #nowMs: number;
  #beforeMs: number;

  constructor(ids: Ids, startedAtMs: number) {
    this.#ids = ids;
    this.#nowMs = startedAtMs;
    this.#beforeMs = startedAtMs;
  }

  /** The time of the current record, in Unix milliseconds. */
  get nowMs(): number {
    return this.#nowMs;
  }

  /** Moves to the next record. `atMs`: its time, or null if the record has none. */
  advance(atMs: number | null): void {
    this.#beforeMs = this.#nowMs;
    this.#nowMs = atMs ?? this.#nowMs;
  }

  /** The running turn, or else the last one. */
  get turnId(): string | null {
    return this.#turn?.id ?? this.#lastTurnId;
  }

  beginTurn(turnId: string | null, startedAtMs: number): void {
    this.#recordsTurns = true;
    if (turnId !== null && turnId === this.#turn?.id) return;
    this.#begin(turnId, { startedAtMs, isRecorded: true });
  }

  /** Records the failure of the running turn. The turn's end follows. */
  failTurn(error: TurnError | null): void {
    if (this.#turn !== null && error !== null) this.#turn.error = error;
  }

  /**
   * Ends a turn, the running one if `turnId` is null. If later turns interrupted this turn, it and
   * they become one turn.
   */
  endTurn(
    turnId: string | null,
    { status, error, completedAtMs, durationMs }: RolloutTurnEnd,
  ): void {
    if (turnId !== null && turnId !== this.#turn?.id && !this.#resumeTurn(turnId)) return;
    if (this.#turn === null) return;
    const { id, startedAtMs, error: earlierError } = this.#turn;
    const failure = status === 'completed' ? (error ?? earlierError) : null;
    this.#drafts.push({
      kind: 'turnEnded',
      turnId: id,
      status: failure === null ? status : 'failed',
      error: failure,
      completedAtMs,
      durationMs: durationMs ?? Math.max(0, completedAtMs - startedAtMs),
    });
    this.#turn = null;
  }

  /** Adds an item that clients saw. */
  addItem(
    item: UntimedItem,
    { turnId = null, startedAtMs = null, completedAtMs = null }: Partial<ItemRecord> = {},
  ): void {
    if (item.type === 'userMessage' && turnId === null) this.#noteUserMessage('client');
    const isOfNewTurn = turnId !== null && !this.#turnIds.has(turnId);
    if (this.#turn === null && (this.#lastTurnId === null || isOfNewTurn))
      this.#begin(turnId, {
        startedAtMs: startedAtMs ?? completedAtMs ?? this.nowMs,
        isRecorded: isOfNewTurn,
      });
    const currentTurnId = this.turnId;
    if (currentTurnId !== null)
      this.#drafts.push({ kind: 'item', turnId: currentTurnId, item, startedAtMs, completedAtMs });
  }

  /**
   * Adds a part to the agent's reasoning: to the last item if that is reasoning, else to a new
   * item.
   */
  addReasoning(text: string, field: 'summary' | 'content', newId: () => string): void {
    const before = this.#drafts.at(-1);
    if (before?.kind === 'item' && before.item.type === 'reasoning') {
      before.item[field]?.push(text);
      return;
    }
    const item: UntimedItem = {
      type: 'reasoning',
      id: newId(),
      summary: [],
      content: [],
      [field]: [text],
    };
    this.addItem(item);
  }

  addModelItem(item: ResponseItem): void {
    if (isUserMessage(item)) this.#noteUserMessage('model');
    this.#drafts.push(importedEntry(this.#turn?.id ?? null, item));
  }

  /** Adds a message that the user has typed, whatever its text looks like. */
  addTypedMessage(content: readonly ContentItem[]): void {
    this.#noteUserMessage('model');
    const item: ResponseItem = { type: 'message', role: 'user', content: [...content] };
    this.#drafts.push({
      kind: 'model',
      turnId: this.#turn?.id ?? null,
      item,
      author: 'client',
      isTyped: true,
    });
  }

  /**
   * Replaces all that the model has read so far by `replacement`, or by the user's messages and the
   * summary if that is null.
   */
  compact(replacement: ResponseItem[] | null, summary: string): void {
    this.#drafts.push({ kind: 'summarized', turnId: this.#turn?.id ?? null, replacement, summary });
  }

  /** Removes the last turns. */
  rollBack(turns: number): void {
    this.#close(this.#beforeMs);
    const starts = this.#drafts.flatMap((draft, index) =>
      draft.kind === 'turnStarted' ? [index] : [],
    );
    const first = starts.at(-turns) ?? starts[0];
    if (turns > 0 && first !== undefined) this.#drafts.length = first;
    this.#lastTurnId =
      this.#drafts.findLast((draft) => draft.kind === 'turnStarted')?.turnId ?? null;
  }

  /**
   * Ends the last turn if the file has not, and resolves with the log to store. Must be the last
   * call. Lets other work run in between.
   */
  async entries(): Promise<LogEntry[]> {
    this.#close(this.#nowMs);
    const recordsItems = this.#drafts.some((draft) => draft.kind === 'item');
    const authorOf = recordedAuthors(this.#drafts);
    const entries: LogEntry[] = [];
    let read: ResponseItem[] = [];
    const breaks = new EventLoopYield();
    for (const draft of this.#drafts) {
      await breaks.worked(ENTRY_UNITS);
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
      if (!recordsItems) entries.push(...this.#shown(draft));
      const { isTyped, ...entry }: ModelDraft = draft;
      const author = isTyped ? null : authorOf(draft.item);
      entries.push(author === null ? entry : { ...entry, author });
    }
    return entries;
  }

  /**
   * The entries of the item that clients see for a model item, in a file without recorded items.
   */
  #shown(draft: ModelDraft): LogEntry[] {
    const item = draft.turnId === null ? null : shownItem(draft.item, this.#ids, draft.isTyped);
    return item === null || draft.turnId === null
      ? []
      : [{ kind: 'item', turnId: draft.turnId, item, startedAtMs: null, completedAtMs: null }];
  }

  /**
   * Handles a user message, as the model read it or as clients saw it. Begins a turn if the file
   * does not record turns.
   */
  #noteUserMessage(by: 'model' | 'client'): void {
    if (this.#recordsTurns || this.#turn?.isRecorded === true) return;
    if (this.#turn === null || this.#turn.seen[by])
      this.#begin(null, { startedAtMs: this.nowMs, isRecorded: false });
    if (this.#turn !== null) this.#turn.seen[by] = true;
  }

  #begin(
    turnId: string | null,
    { startedAtMs, isRecorded }: { startedAtMs: number; isRecorded: boolean },
  ): void {
    this.#close(this.#beforeMs);
    const id = turnId === null || this.#turnIds.has(turnId) ? this.#ids.next() : turnId;
    this.#turnIds.add(id);
    this.#turn = {
      id,
      startedAtMs,
      isRecorded,
      seen: { model: false, client: false },
      error: null,
    };
    this.#lastTurnId = id;
    this.#drafts.push({ kind: 'turnStarted', turnId: id, startedAtMs });
  }

  /** Ends the running turn, whose end the file does not record, at the time of its last record. */
  #close(endedAtMs: number): void {
    if (this.#turn === null) return;
    const { id, isRecorded, startedAtMs, error } = this.#turn;
    if (isRecorded) this.#cutOff.add(id);
    const status = isRecorded && error === null ? 'interrupted' : 'completed';
    this.endTurn(id, {
      status,
      error: null,
      completedAtMs: Math.max(startedAtMs, endedAtMs),
      durationMs: null,
    });
  }

  /**
   * Resumes a turn that later turns interrupted, and adds their entries to it. Returns false if
   * there is no such turn.
   */
  #resumeTurn(turnId: string): boolean {
    const start = this.#drafts.findLastIndex(
      (draft) => draft.kind === 'turnStarted' && draft.turnId === turnId,
    );
    const begun = this.#drafts[start];
    if (!this.#cutOff.has(turnId) || begun?.kind !== 'turnStarted') return false;
    const inner = this.#drafts
      .splice(start + 1)
      .filter((draft) => draft.kind !== 'turnStarted' && draft.kind !== 'turnEnded');
    for (const draft of inner) {
      draft.turnId = turnId;
      this.#drafts.push(draft);
    }
    this.#cutOff.delete(turnId);
    this.#turn = {
      id: turnId,
      startedAtMs: begun.startedAtMs,
      isRecorded: true,
      seen: { model: true, client: true },
      error: null,
    };
    this.#lastTurnId = turnId;
    return true;
  }
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
function recordedAuthors(drafts: readonly Draft[]): (item: ResponseItem) => Author | null {
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
