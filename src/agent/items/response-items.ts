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
import { growReasoning, type ReasoningEvent } from './grow-reasoning.ts';
import { OpenItems, type TurnSteps } from './open-items.ts';
import { type PlanSpan, PlanSplitter, splitPlan } from './plan-splitter.ts';
import type { ShownReasoning } from './shown-reasoning.ts';
import type { CompletingStep, ShownPart, StreamedItem } from './streamed-item.ts';

/**
 * How many parts of one reasoning item are shown while they stream. Further parts show when the
 * item completes.
 */
const REASONING_PARTS_MAX = 1000;

interface ResponseItemsOptions extends TurnSteps {
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
  readonly #open: OpenItems;
  #shownBefore: ShownPart | null = null;

  constructor(options: ResponseItemsOptions) {
    this.#options = options;
    this.#open = new OpenItems(options);
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
    return this.#open.unstored();
  }

  /** Forgets the items that have begun and that the model has not completed, and returns them. */
  drop(): StoredItem[] {
    this.#shownBefore = this.#open.shownPart() ?? this.#shownBefore;
    return this.#open.drop();
  }

  /**
   * Call it when the response has ended. Items that the model has not completed stay as they are
   * stored.
   */
  end(): void {
    this.#open.end();
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
    this.#open.add(sourceId, open);
    if (open.splitter === null && open.repeats === null) this.#open.announce(open);
    return open;
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
    else this.#open.grow(open, open.item, 'item/agentMessage/delta', delta);
  }

  /** Shows of a message that may be repeated only what clients have not seen. */
  #repeatedText(open: StreamedItem, shown: ShownPart, delta: string): void {
    const { item } = open;
    if (item.type !== 'agentMessage') return;
    const text = item.text + delta;
    item.text = text;
    if (shown.text.startsWith(text)) return;
    item.text = this.#beginRepeated(open, shown, text);
    this.#open.grow(open, item, 'item/agentMessage/delta', text.slice(item.text.length));
  }

  /**
   * Continues the message that was shown in part if the text fits it, and begins a new one if not.
   * Returns the text that clients have seen of it.
   */
  #beginRepeated(open: StreamedItem, shown: ShownPart, text: string): string {
    open.repeats = null;
    if (!text.startsWith(shown.text) && !shown.text.startsWith(text)) {
      if (open.item.type === 'agentMessage') open.item.text = '';
      this.#open.announce(open);
      return '';
    }
    this.#open.resume(open, shown);
    return shown.text;
  }

  #planText(open: StreamedItem, spans: PlanSpan[]): void {
    for (const { part, text } of spans) {
      if (part === 'message' && open.item.type === 'agentMessage') {
        this.#open.announce(open);
        this.#open.grow(open, open.item, 'item/agentMessage/delta', text);
        continue;
      }
      const plan = this.#beginPlan();
      if (plan.item.type === 'plan') this.#open.grow(plan, plan.item, 'item/plan/delta', text);
    }
  }

  #reasoning(event: ReasoningEvent): void {
    const { threadId, turnId, shownReasoning } = this.#options;
    const open = this.#open.get(event.itemId);
    if (open?.item.type !== 'reasoning' || event.index >= REASONING_PARTS_MAX) return;
    if (event.type === 'reasoningDelta' && shownReasoning !== 'all') return;
    this.#open.announceDelta(
      open,
      growReasoning(open.item, event, { threadId, turnId, itemId: open.item.id }),
    );
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
    this.#open.remove(sourceId);
    if (source.type === 'message') this.#open.plan = null;
    this.#open.commit(step);
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
    this.#open.announce(open);
    const completed = this.#open.complete(open, item, step);
    if (item.type === 'agentMessage') onMessage(completed);
  }

  /** In plan mode, a message without the plan in it. */
  #withoutPlan(item: UntimedItem): UntimedItem {
    if (!this.#options.planMode || item.type !== 'agentMessage') return item;
    return { ...item, text: splitPlan(item.text).message };
  }

  /** False for a message that consists of a plan only: clients see just the plan. */
  #isShown(open: StreamedItem, item: UntimedItem): boolean {
    return (
      open.announced || this.#open.plan === null || item.type !== 'agentMessage' || item.text !== ''
    );
  }

  #beginPlan(): StreamedItem {
    if (this.#open.plan !== null) return this.#open.plan;
    const plan: StreamedItem = {
      item: { type: 'plan', id: this.#options.newId(), text: '' },
      startedAtMs: this.#options.clock.now(),
      unsaved: false,
      splitter: null,
      citations: null,
      announced: false,
      repeats: null,
    };
    this.#open.plan = plan;
    this.#open.announce(plan);
    return plan;
  }

  /**
   * Completes the plan from the whole message. A plan that only the deltas contained completes as
   * it was streamed.
   */
  #completePlan(message: Extract<ResponseItem, { type: 'message' }>, step: CompletingStep): void {
    const { plan } = this.#options.planMode
      ? splitPlan(memoryCitation(rolloutMessageText(message)).text)
      : { plan: null };
    if (plan === null && this.#open.plan === null) return;
    const open = this.#beginPlan();
    this.#open.complete(
      open,
      plan === null ? open.item : { type: 'plan', id: open.item.id, text: plan },
      step,
    );
  }
}
