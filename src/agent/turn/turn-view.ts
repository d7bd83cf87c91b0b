import type { ThreadItem, Turn, TurnError, TurnItemsView } from '../../protocol/generated/types.ts';

interface TurnFacts {
  id: string;
  /** Absent: the turn itself. */
  rootTurnId?: string;
  status: Turn['status'];
  startedAtMs: number | null;
  completedAtMs?: number | null;
  durationMs?: number | null;
  error?: TurnError | null;
  items?: ThreadItem[];
  itemsView?: TurnItemsView;
}

/** A turn as clients see it: times in Unix seconds, and no items unless they are given. */
export function turnView(turn: TurnFacts): Turn {
  return {
    id: turn.id,
    rootTurnId: turn.rootTurnId ?? turn.id,
    items: turn.items ?? [],
    itemsView: turn.itemsView ?? 'notLoaded',
    status: turn.status,
    error: turn.error ?? null,
    startedAt: seconds(turn.startedAtMs),
    completedAt: seconds(turn.completedAtMs ?? null),
    durationMs: turn.durationMs ?? null,
  };
}

/** Converts Unix milliseconds to Unix seconds. */
export function seconds<Ms extends number | null>(ms: Ms): Ms {
  return (ms === null ? null : Math.floor(ms / 1000)) as Ms;
}
