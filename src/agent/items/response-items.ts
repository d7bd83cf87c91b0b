import type { Clock, Timer } from '../../base/clock.ts';
import type { ModelEvent } from '../../model/model.ts';
import type { Announcement } from '../../protocol/announcement.ts';
import type { ResponseItem, ThreadItem } from '../../protocol/generated/types.ts';
import { beginItem, completeItem, messageText } from '../../rollout/begin-item.ts';
import type { LogEntry, StoredItem } from '../../store/thread-store.ts';
import type { Outbox } from '../outbox.ts';
import { type PlanSpan, PlanSplitter, splitPlan } from './plan-splitter.ts';
import { SAVE_INTERVAL_MS } from './save-interval-ms.ts';
import type { ShownReasoning } from './shown-reasoning.ts';

/** How many parts of one reasoning item are shown while they stream. Further parts show when the item completes. */
const REASONING_PARTS_MAX = 1000;

interface ResponseItemsOptions {
  threadId: string;
  turnId: string;
  clock: Clock;
  outbox: Outbox;
  announce: (announcement: Announcement) => void;
  /** Items get new ids, because a model's ids are at best unique within one response. */
  newId: () => string;
  shownReasoning: ShownReasoning;
  /** In plan mode the text between the plan's tags becomes a separate item. */
  planMode: boolean;
  /** Called for each completed agent message. */
  onMessage: (item: ThreadItem) => void;
}

interface StreamedItem {
  item: ThreadItem;
  startedAtMs: number;
  unsaved: boolean;
  splitter: PlanSplitter | null;
  /**
   * False for a message in plan mode without text so far: it may consist of the plan only, and is then never shown. False also while
   * it is not certain whether the message continues the one in `repeats`.
   */
  announced: boolean;
  /** A message of an earlier attempt that was shown in part: this one may be the same. */
  repeats: ShownPart | null;
}

/** A message that clients have seen in part before the model was asked again. */
interface ShownPart {
  id: string;
  startedAtMs: number;
  text: string;
}

type ItemEvent = Exclude<ModelEvent, { type: 'started' | 'callDelta' | 'retrying' | 'completed' | 'failed' }>;

/**
 * Turns a model's stream into the items that clients see: started, deltas, completed. An item is stored before it is announced, and
 * its growing text is stored at intervals, so that text that a client has read survives a crash of the server.
 */
export class ResponseItems {
  readonly #options: ResponseItemsOptions;
  /** By the model's item id. */
  readonly #open = new Map<string, StreamedItem>();
  #plan: StreamedItem | null = null;
  #shownBefore: ShownPart | null = null;
  #timer: Timer | null = null;

  constructor(options: ResponseItemsOptions) {
    this.#options = options;
  }

  /** Takes one event. Returns a promise only if something is stored; it rejects with the store's error. */
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

  /** The items that have begun and not completed, with their content so far. */
  openItems(): StoredItem[] {
    return this.#announced().map(({ item, startedAtMs }) => this.#stored({ item, startedAtMs }));
  }

  /** Forgets the items that have begun and not completed, and returns them. */
  drop(): StoredItem[] {
    const open = this.openItems();
    this.#shownBefore = this.#shownPart() ?? this.#shownBefore;
    this.#open.clear();
    this.#plan = null;
    this.#timer?.clear();
    this.#timer = null;
    return open;
  }

  #shownPart(): ShownPart | null {
    for (const { item, startedAtMs, announced, splitter, repeats } of this.#open.values()) {
      if (item.type !== 'agentMessage' || splitter !== null) continue;
      if (announced) return { id: item.id, startedAtMs, text: item.text };
      if (repeats !== null) return repeats;
    }
    return null;
  }

  #announced(): StreamedItem[] {
    return [...this.#open.values(), ...(this.#plan === null ? [] : [this.#plan])].filter(({ announced }) => announced);
  }

  async #begin(source: ResponseItem, sourceId: string): Promise<StreamedItem | null> {
    const { newId, clock, planMode, shownReasoning } = this.#options;
    if (source.type === 'reasoning' && shownReasoning === 'nothing') return null;
    const item = beginItem(source, newId());
    if (item === null) return null;
    const open: StreamedItem = {
      item,
      startedAtMs: clock.now(),
      unsaved: false,
      splitter: planMode && item.type === 'agentMessage' ? new PlanSplitter() : null,
      announced: false,
      repeats: null,
    };
    if (item.type === 'agentMessage' && open.splitter === null) {
      open.repeats = this.#shownBefore;
      this.#shownBefore = null;
    }
    this.#open.set(sourceId, open);
    if (open.splitter === null && open.repeats === null) await this.#announceBegun(open);
    return open;
  }

  async #announceBegun(open: StreamedItem): Promise<void> {
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
    if (open.repeats !== null) return this.#repeatedText(open, open.repeats, delta);
    this.#grow(open, open.item, 'item/agentMessage/delta', delta);
    return undefined;
  }

  /** Shows of a message that may be repeated only what clients have not seen. */
  async #repeatedText(open: StreamedItem, shown: ShownPart, delta: string): Promise<void> {
    const { item } = open;
    if (item.type !== 'agentMessage') return;
    const text = item.text + delta;
    item.text = text;
    if (shown.text.startsWith(text)) return;
    item.text = await this.#beginRepeated(open, shown, text);
    this.#grow(open, item, 'item/agentMessage/delta', text.slice(item.text.length));
  }

  /**
   * Continues the message that was shown in part if the text fits it, and begins a new one if not. Returns the text that clients have
   * seen of it.
   */
  async #beginRepeated(open: StreamedItem, shown: ShownPart, text: string): Promise<string> {
    open.repeats = null;
    if (!text.startsWith(shown.text) && !shown.text.startsWith(text)) {
      if (open.item.type === 'agentMessage') open.item.text = '';
      await this.#announceBegun(open);
      return '';
    }
    open.item.id = shown.id;
    open.startedAtMs = shown.startedAtMs;
    open.announced = true;
    return shown.text;
  }

  async #planText(open: StreamedItem, spans: PlanSpan[]): Promise<void> {
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

  #grow(
    open: StreamedItem,
    item: { id: string; text: string },
    method: 'item/agentMessage/delta' | 'item/plan/delta',
    delta: string,
  ): void {
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

  /** Completes an item. It stays open until it is stored, so that `openItems` still has it if the store fails. */
  async #complete(source: ResponseItem): Promise<void> {
    const { turnId, outbox, onMessage } = this.#options;
    const sourceId = 'id' in source && typeof source.id === 'string' ? source.id : '';
    const open = this.#open.get(sourceId) ?? (await this.#begin(source, sourceId));
    const step = { entries: [] as LogEntry[], announce: [] as Announcement[] };
    let item: ThreadItem | null = null;
    if (open !== null) {
      if (open.splitter !== null) await this.#planText(open, open.splitter.end());
      if (source.type === 'message') await this.#completeMessage(open, source, step);
      item = await this.#shown(open, completeItem(open.item, this.#withoutPlan(source), this.#options.shownReasoning === 'all'));
      if (item !== null) this.#finish(open, item, step);
    }
    step.entries.push({ kind: 'model', turnId, item: source });
    await outbox.commit(step);
    this.#open.delete(sourceId);
    if (source.type === 'message') this.#plan = null;
    if (item?.type === 'agentMessage') onMessage(item);
  }

  async #completeMessage(
    open: StreamedItem,
    message: Extract<ResponseItem, { type: 'message' }>,
    step: { entries: LogEntry[]; announce: Announcement[] },
  ): Promise<void> {
    if (open.repeats !== null) await this.#beginRepeated(open, open.repeats, messageText(message));
    await this.#completePlan(message, step);
  }

  /** In plan mode, a message without the plan in it. */
  #withoutPlan(source: ResponseItem): ResponseItem {
    if (!this.#options.planMode || source.type !== 'message') return source;
    return { ...source, content: [{ type: 'output_text', text: splitPlan(messageText(source)).message }] };
  }

  /** Returns the completed item, or null for a message that consists of a plan only: clients see just the plan. */
  async #shown(open: StreamedItem, item: ThreadItem): Promise<ThreadItem | null> {
    if (!open.announced && this.#plan !== null && item.type === 'agentMessage' && item.text === '') return null;
    await this.#announceBegun(open);
    return item;
  }

  async #beginPlan(): Promise<StreamedItem> {
    if (this.#plan === null) {
      const item: ThreadItem = { type: 'plan', id: this.#options.newId(), text: '' };
      this.#plan = { item, startedAtMs: this.#options.clock.now(), unsaved: false, splitter: null, announced: false, repeats: null };
      await this.#announceBegun(this.#plan);
    }
    return this.#plan;
  }

  /** Completes the plan from the whole message. A plan that only the deltas contained completes as it was streamed. */
  async #completePlan(
    message: Extract<ResponseItem, { type: 'message' }>,
    step: { entries: LogEntry[]; announce: Announcement[] },
  ): Promise<void> {
    const { plan } = this.#options.planMode ? splitPlan(messageText(message)) : { plan: null };
    if (plan === null && this.#plan === null) return;
    const open = await this.#beginPlan();
    this.#finish(open, plan === null ? open.item : { type: 'plan', id: open.item.id, text: plan }, step);
  }

  #finish(open: StreamedItem, item: ThreadItem, { entries, announce }: { entries: LogEntry[]; announce: Announcement[] }): void {
    const { threadId, turnId, clock } = this.#options;
    const { startedAtMs } = open;
    open.unsaved = false;
    const completedAtMs = clock.now();
    entries.push({ kind: 'item', turnId, item, startedAtMs, completedAtMs });
    announce.push({ method: 'item/completed', params: { threadId, turnId, item, completedAtMs } });
  }

  #stored({ item, startedAtMs }: Pick<StreamedItem, 'item' | 'startedAtMs'>): StoredItem {
    return { turnId: this.#options.turnId, item, startedAtMs, completedAtMs: null };
  }

  /** Stores growing text at most once in SAVE_INTERVAL_MS. */
  #saveSoon(open: StreamedItem): void {
    open.unsaved = true;
    this.#timer ??= this.#options.clock.setTimer(() => {
      this.#timer = null;
      this.#save();
    }, SAVE_INTERVAL_MS);
  }

  #save(): void {
    for (const open of this.#announced()) {
      if (!open.unsaved) continue;
      open.unsaved = false;
      // If the store fails, completing the item fails too, and that is reported.
      this.#options.outbox.commit({ partial: this.#stored({ ...open, item: structuredClone(open.item) }) }).catch(() => {});
    }
  }
}

/** Appends to the part at this index, and fills missing parts before it with empty strings. */
function grow(parts: string[], index: number, delta: string): void {
  while (parts.length <= index) parts.push('');
  parts[index] = (parts[index] ?? '') + delta;
}
