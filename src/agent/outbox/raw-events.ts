import type { Ids } from '../../base/ids.ts';
import type { Announcement } from '../../protocol/announcement.ts';
import type { ResponseItem, TokenUsageBreakdown } from '../../protocol/generated/types.ts';
import type { LogEntry } from '../../store/log-entry.ts';
import { ModelItems } from '../../store/model-items.ts';
import type { ClientChannel } from '../client-channel.ts';

/** Announcements that begin a turn. The items that begin it are shown after them. */
const BEGINNINGS: ReadonlySet<string> = new Set(['thread/status/changed', 'turn/started']);

/** An item without a turn was added while none ran: the next turn reads it. */
interface RawItem {
  turnId: string | null;
  item: ResponseItem;
}

/**
 * Sends a thread's announcements, and between them, to clients that have asked for it, what its
 * model reads and writes.
 */
export class RawEvents {
  readonly #threadId: string;
  readonly #clients: ClientChannel;
  readonly #ids: Ids;
  /** The items that are stored and not shown yet: they wait for the next announcement. */
  #items: RawItem[] = [];
  /** Brings them into the order in which the model reads them. */
  readonly #order = new ModelItems({
    take: ({ turnId, item }) => void this.#items.push({ turnId, item: shown(item) }),
    // A summary is shown as the response that it comes from.
    restart: () => {},
  });

  constructor(threadId: string, { clients, ids }: { clients: ClientChannel; ids: Ids }) {
    this.#threadId = threadId;
    this.#clients = clients;
    this.#ids = ids;
  }

  /** Takes entries that were stored, and returns them. */
  take(entries: readonly LogEntry[]): readonly LogEntry[] {
    if (!this.#clients.isHeard(this.#audience)) return entries;
    for (const entry of entries) this.#order.add(entry);
    return entries;
  }

  readonly announce = ({ method, params }: Announcement): void => {
    if (this.#items.length > 0 && !BEGINNINGS.has(method)) this.#show();
    this.#clients.publish(
      method === 'rawResponse/completed' ? this.#audience : { threadId: this.#threadId },
      method,
      params,
    );
  };

  /**
   * The announcement that a response of the model is complete; none if nobody has asked for it. To
   * be made after those of its items.
   */
  completed(
    turnId: string,
    { responseId, usage }: { responseId: string | null; usage: TokenUsageBreakdown | null },
  ): Announcement[] {
    if (!this.#clients.isHeard(this.#audience)) return [];
    const params = {
      threadId: this.#threadId,
      turnId,
      responseId: responseId ?? this.#ids.next(),
      usage,
    };
    return [{ method: 'rawResponse/completed', params }];
  }

  get #audience() {
    return { threadId: this.#threadId, only: 'rawEvents' as const };
  }

  #show(): void {
    let reader: string | null = null;
    const shown: { turnId: string; item: ResponseItem }[] = [];
    const waiting: RawItem[] = [];
    for (const { turnId, item } of this.#items.toReversed()) {
      reader = turnId ?? reader;
      if (reader === null) waiting.push({ turnId, item });
      else shown.push({ turnId: reader, item });
    }
    this.#items = waiting.reverse();
    for (const item of shown.reverse())
      this.#clients.publish(this.#audience, 'rawResponseItem/completed', {
        threadId: this.#threadId,
        ...item,
      });
  }
}

/** An item as models read it: of an output, the body alone. */
function shown(item: ResponseItem): ResponseItem {
  if (item.type !== 'function_call_output' && item.type !== 'custom_tool_call_output') return item;
  const { output } = item;
  return typeof output === 'object' && !Array.isArray(output)
    ? { ...item, output: output.body }
    : item;
}
