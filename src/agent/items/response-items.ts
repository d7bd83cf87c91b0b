import type { Clock, Timer } from '../../base/clock.ts';
import type { TagSpan } from '../../base/text/tag-splitter.ts';
import type { ModelEvent } from '../../model/model.ts';
import type { ResponseItem, ThreadItem, UntimedItem } from '../../protocol/generated/types.ts';
import {
  beginItem,
  completeItem,
  rolloutMessageText,
  withoutResults,
} from '../../rollout/begin-item.ts';
import { citationSplitter, memoryCitation } from '../../rollout/memory-citation.ts';
import type { LogEntry, StoredItem } from '../../store/log-entry.ts';
import { timedItem } from '../../store/timed-item.ts';
import type { Outbox } from '../outbox.ts';
import type { StepSequence } from '../step.ts';
import { growReasoning, type ReasoningEvent } from './grow-reasoning.ts';
import { itemCompleted, itemStarted } from './item-shown.ts';
import { type PlanSpan, PlanSplitter, splitPlan } from './plan-splitter.ts';
import { saveWaitMs } from './save-wait-ms.ts';
import type { ShownReasoning } from './shown-reasoning.ts';
import type { CompletingStep, ShownPart, StreamedItem } from './streamed-item.ts';

/**
 * How many parts of one reasoning item are shown while they stream. Further parts show when the
 * item completes.
 */
const REASONING_PARTS_MAX = 1000;

interface ResponseItemsOptions {
  threadId: string;
  turnId: string;
  clock: Clock;
  outbox: Outbox;
  /** The steps of the turn. */
  sequence: StepSequence;
  /** Items get new ids, because a model's ids are at best unique within one response. */
  newId: () => string;
  /** The id of the item for a web search with this id. */
  searchItemId: (modelId: string | null | undefined) => string;
  shownReasoning: ShownReasoning;
  /** In plan mode the text between the plan's tags becomes a separate item. */
  planMode: boolean;
  /** Takes entries out that are not for the thread's log. */
  withoutOwn: (entries: LogEntry[]) => LogEntry[];
  /** Whether clients see messages. */
  showsMessages: boolean;
  /** Called for each completed agent message. */
  onMessage: (item: ThreadItem) => void;
  /**
   * A message that clients have seen in part before the model was asked again: this response may
   * continue it.
   */
  shownBefore: ShownPart | null;
}

type ItemEvent =
  | Extract<ModelEvent, { type: 'itemStarted' | 'textDelta' | 'itemCompleted' }>
  | ReasoningEvent;

/**
 * Turns a model's stream into the items that clients see: started, deltas, completed. An item is
 * stored before it is announced, and its growing text is stored at intervals, so that text that a
 * client has read survives a crash of the server.
 */
export class ResponseItems {
  readonly #options: ResponseItemsOptions;
  /** By the model's item id. */
  readonly #open = new Map<string, StreamedItem>();
  #hasEnded = false;
  /** The items that the model has completed and the store has not stored so far. */
  readonly #completing = new Set<StreamedItem>();
  #plan: StreamedItem | null = null;
  #shownBefore: ShownPart | null = null;
  /** Of the items that are to be saved. */
  readonly #timers = new Map<StreamedItem, Timer>();

  constructor(options: ResponseItemsOptions) {
    this.#options = options;
    this.#shownBefore = options.shownBefore;
  }

  /** The message that clients have seen in part, and that no message has continued. */
  get shownBefore(): ShownPart | null {
    return this.#shownBefore;
  }

  /** Takes one event. If the store fails, the sequence has failed. */
  take(event: ItemEvent): void {
    switch (event.type) {
      case 'itemStarted':
        this.#begin(event.item, event.item.id);
        break;
      case 'textDelta':
        this.#text(event.itemId, event.delta);
        break;
      case 'itemCompleted':
        this.#complete(event.item);
        break;
      default:
        this.#reasoning(event);
    }
  }

  /** The items that have begun and are not stored as completed, with their content so far. */
  openItems(): StoredItem[] {
    return [...this.#completing, ...this.#announced()].map((open) => this.#stored(open));
  }

  /** Forgets the items that have begun and that the model has not completed, and returns them. */
  drop(): StoredItem[] {
    const open = this.#announced().map((item) => this.#stored(item));
    this.#shownBefore = this.#shownPart() ?? this.#shownBefore;
    this.end();
    this.#open.clear();
    this.#plan = null;
    return open;
  }

  /**
   * Call it when the response has ended. Items that the model has not completed stay as they are
   * stored.
   */
  end(): void {
    this.#hasEnded = true;
    for (const { item } of this.#announced()) this.#options.outbox.unfinished.end(item.id);
    for (const timer of this.#timers.values()) timer.clear();
    this.#timers.clear();
  }

  #isUnfinished(open: StreamedItem): boolean {
    return this.#completing.has(open) || (!this.#hasEnded && this.#announced().includes(open));
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
    return [...this.#open.values(), ...(this.#plan === null ? [] : [this.#plan])].filter(
      ({ announced }) => announced,
    );
  }

  #begin(source: ResponseItem, sourceId: string): StreamedItem | null {
    const { newId, searchItemId, clock, planMode, shownReasoning, showsMessages } = this.#options;
    if (source.type === 'reasoning' && shownReasoning === 'nothing') return null;
    if (source.type === 'message' && !showsMessages) return null;
    const item = beginItem(
      source,
      source.type === 'web_search_call' ? searchItemId(source.id) : newId(),
    );
    if (item === null) return null;
    const open: StreamedItem = {
      item,
      startedAtMs: clock.now(),
      unsaved: false,
      splitter: planMode && item.type === 'agentMessage' ? new PlanSplitter() : null,
      citations: item.type === 'agentMessage' ? citationSplitter() : null,
      announced: false,
      repeats: null,
    };
    if (item.type === 'agentMessage' && open.splitter === null) {
      open.repeats = this.#shownBefore;
      this.#shownBefore = null;
    }
    this.#open.set(sourceId, open);
    if (open.splitter === null && open.repeats === null) this.#announceBegun(open);
    return open;
  }

  #announceBegun(open: StreamedItem): void {
    if (open.announced) return;
    open.announced = true;
    const { threadId, turnId, outbox, sequence } = this.#options;
    const item = structuredClone(open.item);
    const stored = { turnId, item, startedAtMs: open.startedAtMs, completedAtMs: null };
    const begun = outbox.commit(
      { partial: stored, announce: [itemStarted(threadId, stored)] },
      sequence,
    );
    const shown = () => {
      if (this.#isUnfinished(open)) outbox.unfinished.begin(item.id, () => this.#stored(open));
    };
    begun.then(shown, () => {});
  }

  #text(sourceId: string, delta: string): void {
    const open = this.#open.get(sourceId);
    if (open?.item.type === 'agentMessage')
      this.#shownText(open, open.citations?.push(delta) ?? []);
  }

  /** Shows the text of a message outside of its citations. */
  #shownText(open: StreamedItem, spans: readonly TagSpan[]): void {
    const delta = spans.map(({ isInside, text }) => (isInside ? '' : text)).join('');
    if (open.item.type !== 'agentMessage' || delta === '') return;
    if (open.splitter !== null) this.#planText(open, open.splitter.push(delta));
    else if (open.repeats !== null) this.#repeatedText(open, open.repeats, delta);
    else this.#grow(open, open.item, 'item/agentMessage/delta', delta);
  }

  /** Shows of a message that may be repeated only what clients have not seen. */
  #repeatedText(open: StreamedItem, shown: ShownPart, delta: string): void {
    const { item } = open;
    if (item.type !== 'agentMessage') return;
    const text = item.text + delta;
    item.text = text;
    if (shown.text.startsWith(text)) return;
    item.text = this.#beginRepeated(open, shown, text);
    this.#grow(open, item, 'item/agentMessage/delta', text.slice(item.text.length));
  }

  /**
   * Continues the message that was shown in part if the text fits it, and begins a new one if not.
   * Returns the text that clients have seen of it.
   */
  #beginRepeated(open: StreamedItem, shown: ShownPart, text: string): string {
    open.repeats = null;
    if (!text.startsWith(shown.text) && !shown.text.startsWith(text)) {
      if (open.item.type === 'agentMessage') open.item.text = '';
      this.#announceBegun(open);
      return '';
    }
    open.item.id = shown.id;
    open.startedAtMs = shown.startedAtMs;
    open.announced = true;
    this.#options.outbox.unfinished.begin(shown.id, () => this.#stored(open));
    return shown.text;
  }

  #planText(open: StreamedItem, spans: PlanSpan[]): void {
    for (const { part, text } of spans) {
      if (part === 'message' && open.item.type === 'agentMessage') {
        this.#announceBegun(open);
        this.#grow(open, open.item, 'item/agentMessage/delta', text);
        continue;
      }
      const plan = this.#beginPlan();
      if (plan.item.type === 'plan') this.#grow(plan, plan.item, 'item/plan/delta', text);
    }
  }

  #grow(
    open: StreamedItem,
    item: { id: string; text: string },
    method: 'item/agentMessage/delta' | 'item/plan/delta',
    delta: string,
  ): void {
    const { threadId, turnId, outbox, sequence } = this.#options;
    item.text += delta;
    outbox.announceDelta(
      { method, params: { threadId, turnId, itemId: item.id, delta } },
      sequence,
    );
    this.#saveSoon(open);
  }

  #reasoning(event: ReasoningEvent): void {
    const { threadId, turnId, shownReasoning, outbox, sequence } = this.#options;
    const open = this.#open.get(event.itemId);
    if (open?.item.type !== 'reasoning' || event.index >= REASONING_PARTS_MAX) return;
    if (event.type === 'reasoningDelta' && shownReasoning !== 'all') return;
    outbox.announceDelta(
      growReasoning(open.item, event, { threadId, turnId, itemId: open.item.id }),
      sequence,
    );
    this.#saveSoon(open);
  }

  #complete(source: ResponseItem): void {
    const sourceId = 'id' in source && typeof source.id === 'string' ? source.id : '';
    const open = this.#open.get(sourceId) ?? this.#begin(source, sourceId);
    const step: CompletingStep = { entries: [], announce: [], items: [] };
    if (open !== null) this.#completeShown(open, source, step);
    step.entries.push(
      ...this.#options.withoutOwn([
        { kind: 'model', turnId: this.#options.turnId, item: withoutResults(source) },
      ]),
    );
    this.#open.delete(sourceId);
    if (source.type === 'message') this.#plan = null;
    this.#commit(step);
  }

  /** Completes the items that clients see of what the model has completed. */
  #completeShown(open: StreamedItem, source: ResponseItem, step: CompletingStep): void {
    const { onMessage, shownReasoning } = this.#options;
    this.#shownText(open, open.citations?.end() ?? []);
    if (open.splitter !== null) this.#planText(open, open.splitter.end());
    if (source.type === 'message') {
      if (open.repeats !== null)
        this.#beginRepeated(open, open.repeats, memoryCitation(rolloutMessageText(source)).text);
      this.#completePlan(source, step);
    }
    const item = this.#withoutPlan(completeItem(open.item, source, shownReasoning === 'all'));
    if (!this.#isShown(open, item)) return;
    this.#announceBegun(open);
    const completed = this.#finish(open, item, step);
    if (item.type === 'agentMessage') onMessage(completed);
  }

  #commit({ items, ...step }: CompletingStep): void {
    const stored = () => {
      for (const open of items) {
        this.#completing.delete(open);
        this.#options.outbox.unfinished.end(open.item.id);
      }
    };
    this.#options.outbox.commit(step, this.#options.sequence).then(stored, () => {});
  }

  /** In plan mode, a message without the plan in it. */
  #withoutPlan(item: UntimedItem): UntimedItem {
    if (!this.#options.planMode || item.type !== 'agentMessage') return item;
    return { ...item, text: splitPlan(item.text).message };
  }

  /** False for a message that consists of a plan only: clients see just the plan. */
  #isShown(open: StreamedItem, item: UntimedItem): boolean {
    return (
      open.announced || this.#plan === null || item.type !== 'agentMessage' || item.text !== ''
    );
  }

  #beginPlan(): StreamedItem {
    if (this.#plan === null) {
      const item: UntimedItem = { type: 'plan', id: this.#options.newId(), text: '' };
      this.#plan = {
        item,
        startedAtMs: this.#options.clock.now(),
        unsaved: false,
        splitter: null,
        citations: null,
        announced: false,
        repeats: null,
      };
      this.#announceBegun(this.#plan);
    }
    return this.#plan;
  }

  /**
   * Completes the plan from the whole message. A plan that only the deltas contained completes as
   * it was streamed.
   */
  #completePlan(message: Extract<ResponseItem, { type: 'message' }>, step: CompletingStep): void {
    const { plan } = this.#options.planMode
      ? splitPlan(memoryCitation(rolloutMessageText(message)).text)
      : { plan: null };
    if (plan === null && this.#plan === null) return;
    const open = this.#beginPlan();
    this.#finish(
      open,
      plan === null ? open.item : { type: 'plan', id: open.item.id, text: plan },
      step,
    );
  }

  #finish(
    open: StreamedItem,
    item: UntimedItem,
    { entries, announce, items }: CompletingStep,
  ): ThreadItem {
    const { threadId, turnId, clock } = this.#options;
    open.item = item;
    open.unsaved = false;
    const completed = { turnId, item, startedAtMs: open.startedAtMs, completedAtMs: clock.now() };
    entries.push({ kind: 'item', ...completed });
    announce.push(itemCompleted(threadId, completed));
    this.#completing.add(open);
    items.push(open);
    return timedItem(completed);
  }

  #stored({ item, startedAtMs }: Pick<StreamedItem, 'item' | 'startedAtMs'>): StoredItem {
    return { turnId: this.#options.turnId, item, startedAtMs, completedAtMs: null };
  }

  #saveSoon(open: StreamedItem): void {
    open.unsaved = true;
    if (this.#timers.has(open)) return;
    const save = () => {
      this.#timers.delete(open);
      this.#save(open);
    };
    this.#timers.set(open, this.#options.clock.setTimer(save, saveWaitMs(open.item)));
  }

  #save(open: StreamedItem): void {
    if (!open.unsaved || !this.#announced().includes(open)) return;
    open.unsaved = false;
    // The parts of a reasoning item grow in place.
    const item = open.item.type === 'reasoning' ? structuredClone(open.item) : { ...open.item };
    this.#options.outbox.savePartial(this.#stored({ ...open, item }));
  }
}
