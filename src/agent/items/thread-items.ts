import type { Timer } from '../../base/clock.ts';
import type { ThreadItem } from '../../protocol/generated/types.ts';
import type { StoredItem } from '../../store/thread-store.ts';
import type { OpenToolItem, ToolItems } from '../../tools/tool.ts';
import type { ThreadToolsDeps } from '../calls/thread-tools-deps.ts';
import { PARTIAL_AGE_MS_MAX } from './partial-age-ms-max.ts';

/** An item that has begun and not completed. */
interface OpenItem {
  turnId: string;
  startedAtMs: number;
  /** The item as it is now, or what gives it. */
  current: ThreadItem | (() => ThreadItem);
  /** Whether its turn's end is on record, or about to be. */
  runsOn: boolean;
}

/** Shows clients, and stores, what the tools of a thread do. */
export class ThreadItems {
  readonly #surroundings: ThreadToolsDeps;
  readonly #open = new Set<OpenItem>();

  constructor(surroundings: ThreadToolsDeps) {
    this.#surroundings = surroundings;
  }

  /** The items of one turn. */
  ofTurn(turnId: string): ToolItems {
    return { begin: (item) => this.#begin(turnId, item) };
  }

  /** The items of a turn that ends which have not completed: from now on they complete behind its end. */
  runOn(turnId: string): StoredItem[] {
    const running = [...this.#open].filter((open) => open.turnId === turnId);
    for (const open of running) open.runsOn = true;
    return running.map(stored);
  }

  async #begin(turnId: string, item: ThreadItem): Promise<OpenToolItem> {
    const { state, deps, outbox } = this.#surroundings;
    const open: OpenItem = { turnId, startedAtMs: deps.clock.now(), current: item, runsOn: false };
    await outbox.commit({
      partial: stored(open),
      announce: [{ method: 'item/started', params: { threadId: state.id, turnId, item, startedAtMs: open.startedAtMs } }],
    });
    this.#open.add(open);
    return this.#handle(open);
  }

  #handle(open: OpenItem): OpenToolItem {
    const { state, deps, outbox, announce } = this.#surroundings;
    const { turnId, startedAtMs } = open;
    let timer: Timer | null = null;
    const save = () => {
      timer = null;
      // A failure here costs nothing: the item is stored whole when it completes.
      outbox.commit({ partial: stored(open) }).catch(() => {});
    };
    return {
      startedAtMs,
      update(item, announcement) {
        open.current = item;
        timer ??= deps.clock.setTimer(save, PARTIAL_AGE_MS_MAX);
        if (announcement !== undefined) announce(announcement);
      },
      drained: () => deps.publisher.drained({ threadId: state.id }),
      complete: async (item) => {
        timer?.clear();
        this.#open.delete(open);
        const completedAtMs = deps.clock.now();
        const kind = open.runsOn ? ('lateItem' as const) : ('item' as const);
        await outbox.commitOrOwe({
          entries: [{ kind, turnId, item, startedAtMs, completedAtMs }],
          announce: [{ method: 'item/completed', params: { threadId: state.id, turnId, item, completedAtMs } }],
        });
      },
    };
  }
}

function stored({ turnId, startedAtMs, current }: OpenItem): StoredItem {
  return { turnId, item: typeof current === 'function' ? current() : current, startedAtMs, completedAtMs: null };
}
