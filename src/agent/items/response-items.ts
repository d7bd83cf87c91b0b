import type { Clock, Timer } from '../../base/clock.ts';
import type { ModelEvent } from '../../model/model.ts';
import type { Announcement } from '../../protocol/announcement.ts';
import type { ResponseItem, ThreadItem } from '../../protocol/generated/types.ts';
import { beginItem, completeItem, messageText } from '../../rollout/begin-item.ts';
import type { LogEntry, StoredItem } from '../../store/thread-store.ts';
import type { Outbox } from '../outbox.ts';
import { PARTIAL_AGE_MS_MAX } from './partial-age-ms-max.ts';
import { type PlanSpan, PlanSplitter, splitPlan } from './plan-splitter.ts';
import type { ShownReasoning } from './shown-reasoning.ts';

/** How many parts of one item's reasoning are shown as they stream; what a model says of further ones shows at the end. */
const REASONING_PARTS_MAX = 1000;

interface ResponseItemsOptions {
  threadId: string;
  turnId: string;
  clock: Clock;
  outbox: Outbox;
  announce: (announcement: Announcement) => void;
  /** Items get ids of our own: a model's are unique within one response, and not always that. */
  newId: () => string;
  shownReasoning: ShownReasoning;
  /** In plan mode what stands between the plan's tags becomes an item of its own. */
  planMode: boolean;
  /** Called for every agent message that has completed. */
  onMessage: (item: ThreadItem) => void;
}

interface OpenItem {
  item: ThreadItem;
  startedAtMs: number;
  unsaved: boolean;
  splitter: PlanSplitter | null;
  /** False for a message in plan mode of which nothing is said yet: it may be nothing but the plan. */
  announced: boolean;
}

type ItemEvent = Exclude<ModelEvent, { type: 'started' | 'callDelta' | 'retrying' | 'completed' | 'failed' }>;

/**
 * Turns what a model streams into the items that clients see: started, deltas, completed. An item is on disk before it
 * is announced, and its text as it grows is put aside, so that what a client has read survives the server's death.
 */
export class ResponseItems {
  readonly #options: ResponseItemsOptions;
  /** By the model's id for it. */
  readonly #open = new Map<string, OpenItem>();
  #plan: OpenItem | null = null;
  #timer: Timer | null = null;

  constructor(options: ResponseItemsOptions) {
    this.#options = options;
  }

  /** Takes one event: undefined when that is done, a promise where something had to be stored, which may reject. */
  take(event: ItemEvent): Promise<void> | undefined {
    switch (event.type) {
      case 'itemStarted':
        return this.#begin(event.item, event.item.id).then(() => undefined);
      case 'textDelta':
        return this.#text(event.itemId, event.delta);
      case 'reasoningSummaryPart':
        return this.#reasoning(event, (item, ids) => {
          grow(item.summary, event.index, '');
          return { method: 'item/reasoning/summaryPartAdded', params: { ...ids, summaryIndex: event.index } };
        });
      case 'reasoningSummaryDelta':
        return this.#reasoning(event, (item, ids) => {
          grow(item.summary, event.index, event.delta);
          return { method: 'item/reasoning/summaryTextDelta', params: { ...ids, summaryIndex: event.index, delta: event.delta } };
        });
      case 'reasoningDelta':
        if (this.#options.shownReasoning !== 'all') return undefined;
        return this.#reasoning(event, (item, ids) => {
          grow(item.content, event.index, event.delta);
          return { method: 'item/reasoning/textDelta', params: { ...ids, contentIndex: event.index, delta: event.delta } };
        });
      case 'itemCompleted':
        return this.#complete(event.item);
      default:
        return event satisfies never;
    }
  }

  /** What has begun and not completed, as far as it came. */
  openItems(): StoredItem[] {
    return this.#announced().map(({ item, startedAtMs }) => this.#stored({ item, startedAtMs }));
  }

  /** Forgets what has begun and not completed, and gives it: it will be asked for again, or the turn is over. */
  drop(): StoredItem[] {
    const open = this.openItems();
    this.#open.clear();
    this.#plan = null;
    this.#timer?.clear();
    this.#timer = null;
    return open;
  }

  #announced(): OpenItem[] {
    return [...this.#open.values(), ...(this.#plan === null ? [] : [this.#plan])].filter(({ announced }) => announced);
  }

  async #begin(source: ResponseItem, sourceId: string): Promise<OpenItem | null> {
    const { newId, clock, planMode, shownReasoning } = this.#options;
    if (source.type === 'reasoning' && shownReasoning === 'nothing') return null;
    const item = beginItem(source, newId());
    if (item === null) return null;
    const open: OpenItem = {
      item,
      startedAtMs: clock.now(),
      unsaved: false,
      splitter: planMode && item.type === 'agentMessage' ? new PlanSplitter() : null,
      announced: false,
    };
    this.#open.set(sourceId, open);
    if (open.splitter === null) await this.#announceBegun(open);
    return open;
  }

  async #announceBegun(open: OpenItem): Promise<void> {
    if (open.announced) return;
    open.announced = true;
    const { threadId, turnId, outbox } = this.#options;
    const item = structuredClone(open.item);
    await outbox.commit({
      partial: this.#stored({ ...open, item }),
      announce: [{ method: 'item/started', params: { threadId, turnId, item, startedAtMs: open.startedAtMs } }],
    });
  }

  #text(sourceId: string, delta: string): Promise<void> | undefined {
    const open = this.#open.get(sourceId);
    if (open?.item.type !== 'agentMessage' || delta === '') return undefined;
    if (open.splitter !== null) return this.#planText(open, open.splitter.push(delta));
    this.#grow(open, open.item, 'item/agentMessage/delta', delta);
    return undefined;
  }

  async #planText(open: OpenItem, spans: PlanSpan[]): Promise<void> {
    for (const { part, text } of spans) {
      if (part === 'message' && open.item.type === 'agentMessage') {
        await this.#announceBegun(open);
        this.#grow(open, open.item, 'item/agentMessage/delta', text);
        continue;
      }
      const plan = await this.#beginPlan();
      if (plan.item.type === 'plan') this.#grow(plan, plan.item, 'item/plan/delta', text);
    }
  }

  #grow(open: OpenItem, item: { id: string; text: string }, method: 'item/agentMessage/delta' | 'item/plan/delta', delta: string): void {
    const { threadId, turnId, announce } = this.#options;
    item.text += delta;
    announce({ method, params: { threadId, turnId, itemId: item.id, delta } });
    this.#saveSoon(open);
  }

  #reasoning(
    { itemId, index }: { itemId: string; index: number },
    change: (item: { summary: string[]; content: string[] }, ids: { threadId: string; turnId: string; itemId: string }) => Announcement,
  ): undefined {
    const open = this.#open.get(itemId);
    if (open?.item.type !== 'reasoning' || index >= REASONING_PARTS_MAX) return;
    const { threadId, turnId, announce } = this.#options;
    const { item } = open;
    item.summary ??= [];
    item.content ??= [];
    announce(change({ summary: item.summary, content: item.content }, { threadId, turnId, itemId: item.id }));
    this.#saveSoon(open);
  }

  /** What completes stays among the open until it is stored: where that fails, it is there as far as it came. */
  async #complete(source: ResponseItem): Promise<void> {
    const { turnId, outbox, onMessage } = this.#options;
    const sourceId = 'id' in source && typeof source.id === 'string' ? source.id : '';
    const open = this.#open.get(sourceId) ?? (await this.#begin(source, sourceId));
    const step = { entries: [] as LogEntry[], announce: [] as Announcement[] };
    let item: ThreadItem | null = null;
    if (open !== null) {
      if (open.splitter !== null) await this.#planText(open, open.splitter.end());
      if (source.type === 'message') await this.#completePlan(source, step);
      item = await this.#said(open, completeItem(open.item, this.#spoken(source), this.#options.shownReasoning === 'all'));
      if (item !== null) this.#finish(open, item, step);
    }
    step.entries.push({ kind: 'model', turnId, item: source });
    await outbox.commit(step);
    this.#open.delete(sourceId);
    if (source.type === 'message') this.#plan = null;
    if (item?.type === 'agentMessage') onMessage(item);
  }

  /** In plan mode a message is what stands outside the plan's tags. */
  #spoken(source: ResponseItem): ResponseItem {
    if (!this.#options.planMode || source.type !== 'message') return source;
    return { ...source, content: [{ type: 'output_text', text: splitPlan(messageText(source)).message }] };
  }

  /** An item that completes; null for a message that is nothing but a plan: there is none of it beside the plan. */
  async #said(open: OpenItem, item: ThreadItem): Promise<ThreadItem | null> {
    if (!open.announced && this.#plan !== null && item.type === 'agentMessage' && item.text === '') return null;
    await this.#announceBegun(open);
    return item;
  }

  async #beginPlan(): Promise<OpenItem> {
    if (this.#plan === null) {
      const item: ThreadItem = { type: 'plan', id: this.#options.newId(), text: '' };
      this.#plan = { item, startedAtMs: this.#options.clock.now(), unsaved: false, splitter: null, announced: false };
      await this.#announceBegun(this.#plan);
    }
    return this.#plan;
  }

  /** The whole message counts for the plan too; one that only the deltas held completes as it was streamed. */
  async #completePlan(
    message: Extract<ResponseItem, { type: 'message' }>,
    step: { entries: LogEntry[]; announce: Announcement[] },
  ): Promise<void> {
    const { plan } = this.#options.planMode ? splitPlan(messageText(message)) : { plan: null };
    if (plan === null && this.#plan === null) return;
    const open = await this.#beginPlan();
    this.#finish(open, plan === null ? open.item : { type: 'plan', id: open.item.id, text: plan }, step);
  }

  #finish(open: OpenItem, item: ThreadItem, { entries, announce }: { entries: LogEntry[]; announce: Announcement[] }): void {
    const { threadId, turnId, clock } = this.#options;
    const { startedAtMs } = open;
    open.unsaved = false;
    const completedAtMs = clock.now();
    entries.push({ kind: 'item', turnId, item, startedAtMs, completedAtMs });
    announce.push({ method: 'item/completed', params: { threadId, turnId, item, completedAtMs } });
  }

  #stored({ item, startedAtMs }: Pick<OpenItem, 'item' | 'startedAtMs'>): StoredItem {
    return { turnId: this.#options.turnId, item, startedAtMs, completedAtMs: null };
  }

  /** Stores growing text once in PARTIAL_AGE_MS_MAX, however fast it streams. */
  #saveSoon(open: OpenItem): void {
    open.unsaved = true;
    this.#timer ??= this.#options.clock.setTimer(() => {
      this.#timer = null;
      this.#save();
    }, PARTIAL_AGE_MS_MAX);
  }

  #save(): void {
    for (const open of this.#announced()) {
      if (!open.unsaved) continue;
      open.unsaved = false;
      // A failure here is met again, and told, when the item completes.
      this.#options.outbox.commit({ partial: this.#stored({ ...open, item: structuredClone(open.item) }) }).catch(() => {});
    }
  }
}

/** Adds to a part of a text; parts before it of which nothing was said yet are empty. */
function grow(parts: string[], index: number, delta: string): void {
  while (parts.length <= index) parts.push('');
  parts[index] = (parts[index] ?? '') + delta;
}
