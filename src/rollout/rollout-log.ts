import type { Ids } from '../base/ids.ts';
import type { ResponseItem, ThreadItem, TurnError } from '../protocol/generated/types.ts';
import type { LogEntry } from '../store/thread-store.ts';
import { isUserMessage, shownItem } from './history-entries.ts';

/** What a log is made of while it is read. */
type Draft = LogEntry | { kind: 'compacted'; turnId: string | null; replacement: ResponseItem[] | null; summary: string };

interface UnendedTurn {
  id: string;
  startedAtMs: number;
  /** Older files do not say where a turn begins: it is then wherever the user speaks. */
  isTold: boolean;
  /** What of the user's message has been seen, in a turn that is not told. */
  heard: { model: boolean; client: boolean };
  error: TurnError | null;
}

export interface RolloutTurnEnd {
  status: 'completed' | 'interrupted';
  error: TurnError | null;
  completedAtMs: number;
  durationMs: number | null;
}

export interface ItemTimes {
  turnId: string | null;
  startedAtMs: number;
  completedAtMs: number;
}

/**
 * Puts a thread's log together from what a rollout tells, in the file's order. Every turn is ended: one whose end the
 * file does not tell was cut off, and ends `interrupted` before the next one begins or the file ends.
 */
export class RolloutLog {
  readonly #ids: Ids;
  #drafts: Draft[] = [];
  /** When each model item was read: the time of what is shown for it, in a file that tells no items beside them. */
  readonly #readAtMs = new Map<Draft, number>();
  #turn: UnendedTurn | null = null;
  #lastTurnId: string | null = null;
  readonly #turnIds = new Set<string>();
  readonly #cutOff = new Set<string>();
  /** From the first turn that is told on, all of them are. */
  #tellsTurns = false;
  #nowMs: number;
  #beforeMs: number;

  constructor(ids: Ids, startedAtMs: number) {
    this.#ids = ids;
    this.#nowMs = startedAtMs;
    this.#beforeMs = startedAtMs;
  }

  /** Unix milliseconds: the time of the record at hand. */
  get nowMs(): number {
    return this.#nowMs;
  }

  /** The next record is at hand; null where it does not tell its time. */
  advance(atMs: number | null): void {
    this.#beforeMs = this.#nowMs;
    this.#nowMs = atMs ?? this.#nowMs;
  }

  /** The turn that runs, else the last one. */
  get turnId(): string | null {
    return this.#turn?.id ?? this.#lastTurnId;
  }

  beginTurn(turnId: string | null, startedAtMs: number): void {
    this.#tellsTurns = true;
    if (turnId !== null && turnId === this.#turn?.id) return;
    this.#begin(turnId, { startedAtMs, isTold: true });
  }

  /** The failure of the turn that runs, if it is one; the turn's end follows. */
  failTurn(error: TurnError | null): void {
    if (this.#turn !== null && error !== null) this.#turn.error = error;
  }

  /** Ends a turn, the running one if none is named. A turn around others that it had begun takes them in. */
  endTurn(turnId: string | null, { status, error, completedAtMs, durationMs }: RolloutTurnEnd): void {
    if (turnId !== null && turnId !== this.#turn?.id && !this.#takeIn(turnId)) return;
    if (this.#turn === null) return;
    const { id, startedAtMs, error: told } = this.#turn;
    const failure = status === 'completed' ? (error ?? told) : null;
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

  /** An item that clients saw. `turnId` is the turn that the file names for it. */
  addItem(item: ThreadItem, { turnId, startedAtMs, completedAtMs }: ItemTimes): void {
    if (item.type === 'userMessage' && turnId === null) this.#hear('client');
    const isOfNewTurn = turnId !== null && !this.#turnIds.has(turnId);
    if (this.#turn === null && (this.#lastTurnId === null || isOfNewTurn)) this.#begin(turnId, { startedAtMs, isTold: isOfNewTurn });
    const currentTurnId = this.turnId;
    if (currentTurnId !== null) this.#drafts.push({ kind: 'item', turnId: currentTurnId, item, startedAtMs, completedAtMs });
  }

  /** One more part of the agent's reasoning: of the item before it, if nothing came between. */
  addReasoning(text: string, field: 'summary' | 'content', newId: () => string): void {
    const before = this.#drafts.at(-1);
    if (before?.kind === 'item' && before.item.type === 'reasoning') {
      before.item[field]?.push(text);
      return;
    }
    const item: ThreadItem = { type: 'reasoning', id: newId(), summary: [], content: [], [field]: [text] };
    this.addItem(item, { turnId: null, startedAtMs: this.nowMs, completedAtMs: this.nowMs });
  }

  addModelItem(item: ResponseItem): void {
    if (isUserMessage(item)) this.#hear('model');
    const draft: Draft = { kind: 'model', turnId: this.#turn?.id ?? null, item };
    this.#readAtMs.set(draft, this.nowMs);
    this.#drafts.push(draft);
  }

  /** From here the model reads the replacement in place of all before it; without one, the user's messages and the summary. */
  compact(replacement: ResponseItem[] | null, summary: string): void {
    this.#drafts.push({ kind: 'compacted', turnId: this.#turn?.id ?? null, replacement, summary });
  }

  /** Takes back the last turns. */
  rollBack(turns: number): void {
    this.#close(this.#beforeMs);
    const starts = this.#drafts.flatMap((draft, index) => (draft.kind === 'turnStarted' ? [index] : []));
    const first = starts.at(-turns) ?? starts[0];
    if (turns > 0 && first !== undefined) this.#drafts.length = first;
    this.#lastTurnId = this.#drafts.findLast((draft) => draft.kind === 'turnStarted')?.turnId ?? null;
  }

  /** The log as it is to be stored. The last call: it ends the turn that the file leaves open. */
  entries(): LogEntry[] {
    this.#close(this.#nowMs);
    const tellsItems = this.#drafts.some((draft) => draft.kind === 'item');
    let entries: LogEntry[] = [];
    for (const draft of this.#drafts) {
      if (draft.kind === 'compacted') {
        const read = entries.flatMap((entry) => (entry.kind === 'model' ? [entry.item] : []));
        entries = entries.filter((entry) => entry.kind !== 'model');
        const kept = draft.replacement ?? summarized(read, draft.summary);
        for (const item of kept) entries.push({ kind: 'model', turnId: draft.turnId, item });
        continue;
      }
      if (!tellsItems && draft.kind === 'model') entries.push(...this.#shown(draft));
      entries.push(draft);
    }
    return entries;
  }

  /** What clients see of a model item, in a file that tells no items. */
  #shown(draft: Extract<LogEntry, { kind: 'model' }>): LogEntry[] {
    const item = draft.turnId === null ? null : shownItem(draft.item, this.#ids);
    const atMs = this.#readAtMs.get(draft) ?? this.nowMs;
    return item === null || draft.turnId === null
      ? []
      : [{ kind: 'item', turnId: draft.turnId, item, startedAtMs: atMs, completedAtMs: atMs }];
  }

  /** The user speaks, as the model reads it or as clients see it: where turns are not told, a new one begins with it. */
  #hear(by: 'model' | 'client'): void {
    if (this.#tellsTurns || this.#turn?.isTold === true) return;
    if (this.#turn === null || this.#turn.heard[by]) this.#begin(null, { startedAtMs: this.nowMs, isTold: false });
    if (this.#turn !== null) this.#turn.heard[by] = true;
  }

  #begin(turnId: string | null, { startedAtMs, isTold }: { startedAtMs: number; isTold: boolean }): void {
    this.#close(this.#beforeMs);
    const id = turnId === null || this.#turnIds.has(turnId) ? this.#ids.next() : turnId;
    this.#turnIds.add(id);
    this.#turn = { id, startedAtMs, isTold, heard: { model: false, client: false }, error: null };
    this.#lastTurnId = id;
    this.#drafts.push({ kind: 'turnStarted', turnId: id, startedAtMs });
  }

  /** Ends the turn that runs at a place where the file does not tell its end. What the turn last told stands for its time. */
  #close(endedAtMs: number): void {
    if (this.#turn === null) return;
    const { id, isTold, startedAtMs, error } = this.#turn;
    if (isTold) this.#cutOff.add(id);
    const status = isTold && error === null ? 'interrupted' : 'completed';
    this.endTurn(id, { status, error: null, completedAtMs: Math.max(startedAtMs, endedAtMs), durationMs: null });
  }

  /** Makes a turn that others interrupted run again, with all that followed as part of it. False where there is none such. */
  #takeIn(turnId: string): boolean {
    const start = this.#drafts.findLastIndex((draft) => draft.kind === 'turnStarted' && draft.turnId === turnId);
    const begun = this.#drafts[start];
    if (!this.#cutOff.has(turnId) || begun?.kind !== 'turnStarted') return false;
    const inner = this.#drafts.splice(start + 1).filter((draft) => draft.kind !== 'turnStarted' && draft.kind !== 'turnEnded');
    for (const draft of inner) {
      draft.turnId = turnId;
      this.#drafts.push(draft);
    }
    this.#cutOff.delete(turnId);
    this.#turn = { id: turnId, startedAtMs: begun.startedAtMs, isTold: true, heard: { model: true, client: true }, error: null };
    this.#lastTurnId = turnId;
    return true;
  }
}

function summarized(read: readonly ResponseItem[], summary: string): ResponseItem[] {
  return [...read.filter(isUserMessage), { type: 'message', role: 'user', content: [{ type: 'input_text', text: summary }] }];
}
