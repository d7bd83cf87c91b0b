import type { Ids } from '../base/ids.ts';
import type {
  ContentItem,
  ResponseItem,
  TurnError,
  UntimedItem,
} from '../protocol/generated/types.ts';
import type { LogEntry } from '../store/log-entry.ts';
import { isUserMessage } from './author-of.ts';
import { importedEntry } from './history-entries.ts';
import { type RolloutDraft, rolloutEntries } from './rollout-entries.ts';

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
  #drafts: RolloutDraft[] = [];
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
  entries(): Promise<LogEntry[]> {
    this.#close(this.#nowMs);
    return rolloutEntries(this.#drafts, this.#ids);
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
