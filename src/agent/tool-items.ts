import type { Timer } from '../base/clock.ts';
import type { ThreadItem } from '../protocol/generated/types.ts';
import type { OpenToolItem, ToolItems } from '../tools/tool.ts';
import type { ToolSurroundings } from './tool-surroundings.ts';

/** How old the stored part of an item that still grows may be. */
const PARTIAL_AGE_MS_MAX = 500;

/** Shows clients, and stores, what a turn's tools do. */
export function turnItems(surroundings: ToolSurroundings, turnId: string): ToolItems {
  const { state, deps, outbox } = surroundings;
  return {
    async begin(item) {
      const startedAtMs = deps.clock.now();
      await outbox.commit({
        partial: { turnId, item, startedAtMs, completedAtMs: null },
        announce: [{ method: 'item/started', params: { threadId: state.id, turnId, item, startedAtMs } }],
      });
      return openItem(surroundings, turnId, startedAtMs);
    },
  };
}

function openItem({ state, deps, outbox, announce }: ToolSurroundings, turnId: string, startedAtMs: number): OpenToolItem {
  const { clock, publisher } = deps;
  let latest: ThreadItem | (() => ThreadItem) | null = null;
  let timer: Timer | null = null;
  const save = () => {
    timer = null;
    if (latest === null) return;
    // A failure here is met again, and told, when the item completes.
    const item = typeof latest === 'function' ? latest() : latest;
    outbox.commit({ partial: { turnId, item, startedAtMs, completedAtMs: null } }).catch(() => {});
    latest = null;
  };
  return {
    startedAtMs,
    update(item, announcement) {
      latest = item;
      timer ??= clock.setTimer(save, PARTIAL_AGE_MS_MAX);
      if (announcement !== undefined) announce(announcement);
    },
    drained: () => publisher.drained({ threadId: state.id }),
    async complete(item) {
      timer?.clear();
      latest = null;
      const completedAtMs = clock.now();
      await outbox.commit({
        entries: [{ kind: 'item', turnId, item, startedAtMs, completedAtMs }],
        announce: [{ method: 'item/completed', params: { threadId: state.id, turnId, item, completedAtMs } }],
      });
    },
  };
}
