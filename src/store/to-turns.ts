import type { TurnItemsView } from '../protocol/generated/types.ts';
import type { HistoryEntry } from './history-entry.ts';
import type { StoredTurn } from './thread-store.ts';

/** Builds turns from entries, which must be in order. An entry belongs to the turn whose start precedes it. */
export function toTurns(entries: HistoryEntry[], view: TurnItemsView): StoredTurn[] {
  const turns: StoredTurn[] = [];
  for (const entry of entries) {
    const turn = turns.at(-1);
    if (entry.kind === 'turnStarted') turns.push(startedTurn(entry, view));
    else if (turn === undefined) continue;
    else if (entry.kind === 'item' && view !== 'notLoaded') turn.items.push(entry.item);
    else if (entry.kind === 'turnEnded') {
      turn.status = entry.status;
      turn.error = entry.error;
      turn.completedAtMs = entry.completedAtMs;
      turn.durationMs = entry.durationMs;
      if (entry.tokenUsage) turn.tokenUsage = entry.tokenUsage;
    }
  }
  return turns;
}

/** A turn whose end has not been read yet. It counts as interrupted until then. */
function startedTurn({ turnId, startedAtMs }: { turnId: string; startedAtMs: number }, view: TurnItemsView): StoredTurn {
  return { id: turnId, status: 'interrupted', error: null, startedAtMs, completedAtMs: null, durationMs: null, items: [], itemsView: view };
}
