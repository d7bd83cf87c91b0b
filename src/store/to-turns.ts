import type { HistoryEntry } from './history-entry.ts';
import type { StoredTurn } from './thread-store.ts';

/** Builds turns, without their items, from their starts and ends in order. */
export function toTurns(entries: HistoryEntry[]): StoredTurn[] {
  const turns: StoredTurn[] = [];
  for (const entry of entries) {
    const turn = turns.at(-1);
    if (entry.kind === 'turnStarted') turns.push(startedTurn(entry));
    else if (turn !== undefined && entry.kind === 'turnEnded') {
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
function startedTurn({
  turnId,
  startedAtMs,
  rootTurnId,
}: {
  turnId: string;
  startedAtMs: number;
  rootTurnId?: string;
}): StoredTurn {
  return {
    id: turnId,
    ...(rootTurnId !== undefined && { rootTurnId }),
    status: 'interrupted',
    error: null,
    startedAtMs,
    completedAtMs: null,
    durationMs: null,
    items: [],
    itemsView: 'notLoaded',
  };
}
