import { storedTurnViews } from '../../agent/threads/thread-view.ts';
import type { Threads } from '../../agent/threads/threads.ts';
import { ByteBudget } from '../../base/byte-budget.ts';
import {
  historyTooLarge,
  itemsTooLarge,
  turnTooLarge,
} from '../../protocol/errors/thread-errors.ts';
import type { ThreadItemEntry, Turn, TurnItemsView } from '../../protocol/generated/types.ts';
import type { StoredItem } from '../../store/log-entry.ts';
import type { HistoryPage, ItemQuery, Page, PageQuery } from '../../store/page-query.ts';
import type { StoredTurn, ThreadStore } from '../../store/thread-store.ts';
import { timedItem } from '../../store/timed-item.ts';
import type { RequestContext } from '../requested/method.ts';
import { combinedPage } from './combined-page.ts';
import { TurnTooLarge, wholeTurns } from './whole-turns.ts';

/**
 * The largest answer that has parts of a history, in bytes of JSON. A single entry of a page may be
 * as large. Less than the longest line that the package's own client takes.
 */
const ANSWER_BYTES_MAX = 48 * 1024 * 1024;
/** A page of a list ends before the entry with which it would exceed this. */
const PAGE_BYTES_MAX = 4 * 1024 * 1024;
/** The most that the items have that a request names. A single one may have more. */
const NAMED_BYTES_MAX = 16 * 1024 * 1024;
/** The most that all answers together may have while they are made. More answers wait. */
const ANSWERS_BYTES_MAX = ANSWER_BYTES_MAX;

/** How a client reads a history that is too large for an answer. */
const PAGED =
  'Read the turns in pages with thread/turns/list (params: threadId, cursor, limit, itemsView)';

/**
 * Reads what answers have of histories, in slices and within limits of bytes, and lets answers wait
 * while others are made.
 */
export class HistoryAnswers {
  readonly #store: ThreadStore;
  readonly #threads: Threads;
  readonly #budget = new ByteBudget(ANSWERS_BYTES_MAX);
  /** The requests whose answers may be made. */
  readonly #begun = new WeakSet<RequestContext>();

  constructor(store: ThreadStore, threads: Threads) {
    this.#store = store;
    this.#threads = threads;
  }

  /**
   * All turns of a thread, oldest first, with all their items. `without` names the param with which
   * the request has no turns; null: there is none. Throws `answer_too_large` before it reads them.
   */
  async allTurns(
    threadId: string,
    context: RequestContext,
    without: string | null,
  ): Promise<Turn[]> {
    return this.views(threadId, await this.allStoredTurns(threadId, context, without));
  }

  /** Like `allTurns`, as they are stored. */
  async allStoredTurns(
    threadId: string,
    context: RequestContext,
    without: string | null,
  ): Promise<StoredTurn[]> {
    const bytes = await this.measure(threadId);
    const advice = without === null ? PAGED : `Set ${without}. ${PAGED}`;
    const tooLarge = (found: number) =>
      historyTooLarge(threadId, { bytes: found, bytesMax: ANSWER_BYTES_MAX, advice });
    if (bytes > ANSWER_BYTES_MAX) throw tooLarge(bytes);
    await this.#begin(bytes, context);
    const page = await this.#whole(threadId, { direction: 'asc' }, ANSWER_BYTES_MAX);
    if (page.nextCursor !== null) throw tooLarge(page.bytes);
    return page.data;
  }

  /**
   * All turns of a thread, oldest first: with all their items, or without any if an answer cannot
   * have them. For a method that has changed the thread, so that refusing is no choice.
   */
  async turnsAsFit(threadId: string, context: RequestContext): Promise<Turn[]> {
    const bytes = await this.measure(threadId);
    if (bytes <= ANSWER_BYTES_MAX) return this.allTurns(threadId, context, null);
    await this.#begin(PAGE_BYTES_MAX, context);
    const store = this.#store;
    const list = (part: PageQuery) => store.listTurns(threadId, { ...part, view: 'notLoaded' });
    return this.views(
      threadId,
      (await combinedPage(list, { direction: 'asc' }, ANSWER_BYTES_MAX)).data,
    );
  }

  /**
   * A page of a thread's turns. For a loaded thread, it includes state that is not in the store.
   */
  async turns(
    threadId: string,
    query: PageQuery & { view: TurnItemsView },
    context: RequestContext,
  ): Promise<Page<Turn>> {
    const page = await this.storedTurns(threadId, query, context);
    return { ...page, data: this.views(threadId, page.data) };
  }

  /** Like `turns`, as they are stored. */
  async storedTurns(
    threadId: string,
    { view, ...query }: PageQuery & { view: TurnItemsView },
    context: RequestContext,
  ): Promise<Page<StoredTurn>> {
    await this.#begin(PAGE_BYTES_MAX, context);
    const store = this.#store;
    const page =
      view === 'full'
        ? await this.#whole(threadId, query, PAGE_BYTES_MAX)
        : await combinedPage(
            (part) => store.listTurns(threadId, { ...part, view }),
            query,
            PAGE_BYTES_MAX,
          );
    return withoutSize(page);
  }

  /** A page of a thread's items. */
  async items(
    threadId: string,
    query: ItemQuery,
    context: RequestContext,
  ): Promise<Page<ThreadItemEntry>> {
    await this.#begin(PAGE_BYTES_MAX, context);
    const store = this.#store;
    const page = withoutSize(
      await combinedPage((part) => store.listItems(threadId, part), query, PAGE_BYTES_MAX),
    );
    return { ...page, data: this.#asSeen(threadId, page.data) };
  }

  /** The named items of a turn, in its order. Throws `answer_too_large`. */
  async namedItems(
    threadId: string,
    { turnId, itemIds }: { turnId: string; itemIds: readonly string[] },
    context: RequestContext,
  ) {
    await this.#begin(NAMED_BYTES_MAX, context);
    const data: StoredItem[] = [];
    let bytes = 0;
    for (let ids = itemIds; ids.length > 0; ) {
      const part = await this.#store.readItems(threadId, { turnId, itemIds: ids });
      data.push(...part.items);
      bytes += part.bytes;
      if (bytes > NAMED_BYTES_MAX && part.rest.length > 0)
        throw itemsTooLarge(turnId, { bytes, bytesMax: NAMED_BYTES_MAX });
      ids = part.rest;
    }
    return this.#asSeen(threadId, data);
  }

  /** The bytes of a thread's items, or of those of a turn. */
  async measure(threadId: string, turnId: string | null = null): Promise<number> {
    let bytes = 0;
    let cursor: string | null = null;
    do {
      const part: { bytes: number; nextCursor: string | null } = await this.#store.measureItems(
        threadId,
        { turnId, cursor },
      );
      bytes += part.bytes;
      cursor = part.nextCursor;
    } while (cursor !== null);
    return bytes;
  }

  async #whole(
    threadId: string,
    query: PageQuery,
    bytesMax: number,
  ): Promise<HistoryPage<StoredTurn>> {
    try {
      return await wholeTurns(this.#store, threadId, query, {
        bytesMax,
        turnBytesMax: ANSWER_BYTES_MAX,
      });
    } catch (error) {
      if (!(error instanceof TurnTooLarge)) throw error;
      const { turnId } = error;
      throw turnTooLarge(turnId, {
        bytes: await this.measure(threadId, turnId),
        bytesMax: ANSWER_BYTES_MAX,
      });
    }
  }

  /** Stored turns as clients see them now. */
  views(threadId: string, turns: readonly StoredTurn[]): Turn[] {
    return storedTurnViews(turns, this.#threads.find(threadId));
  }

  /** Stored items as clients see them now. */
  #asSeen(threadId: string, items: StoredItem[]): ThreadItemEntry[] {
    const unfinished = this.#threads.find(threadId)?.unstored.unfinished;
    return items.map((item) => {
      const seen = unfinished?.asSeen(item) ?? item;
      return { ...seen, item: timedItem(seen) };
    });
  }

  /**
   * Waits until so many bytes may be read for an answer. A client that does not read its answers
   * gets no more of them.
   */
  async #begin(bytes: number, context: RequestContext): Promise<void> {
    // A request that waited twice could wait for itself.
    if (this.#begun.has(context)) return;
    this.#begun.add(context);
    const { caller, answerInParts } = context;
    let release = await this.#budget.take(bytes);
    for (let backlog = caller.drained(); backlog !== null; backlog = caller.drained()) {
      release();
      await backlog;
      release = await this.#budget.take(bytes);
    }
    answerInParts(release);
  }
}

function withoutSize<T>({ data, nextCursor, backwardsCursor }: HistoryPage<T>): Page<T> {
  return { data, nextCursor, backwardsCursor };
}
