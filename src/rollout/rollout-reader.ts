import type { Ids } from '../base/ids.ts';
import type {
  ResponseItem,
  ThreadTokenUsage,
  TokenUsageBreakdown,
} from '../protocol/generated/types.ts';
import { isContext } from './author-of.ts';
import { completedItem } from './completed-item.ts';
import { eventItem } from './event-item.ts';
import type { Fields } from './fields.ts';
import { RolloutLog } from './rollout-log.ts';
import type { RolloutRecord } from './rollout-record.ts';
import { rolloutResponseItem } from './rollout-response-item.ts';
import { turnError } from './turn-error.ts';

/** The settings of the last turn. `effort` is null for the model's default. */
export interface LastSettings {
  model: string | null;
  effort: string | null;
  cwd: string | null;
}

/**
 * Takes the records of a rollout in their order, and keeps the data that a thread needs. Ignores
 * unknown types.
 */
export class RolloutReader {
  readonly log: RolloutLog;
  /** Null before the first turn. */
  last: LastSettings | null = null;
  tokenUsage: { turnId: string; usage: ThreadTokenUsage } | null = null;
  name: string | null = null;
  /**
   * The number of records with an item that the model read, but in a form that models do not
   * accept.
   */
  unreadable = 0;
  readonly #newId: () => string;
  /** Handlers by the type of the event. An event without a handler may describe an item. */
  readonly #events: Record<string, (event: Fields) => void> = {
    task_started: (event) => this.#beginTurn(event),
    turn_started: (event) => this.#beginTurn(event),
    task_complete: (event) => this.#endTurn(event, 'completed'),
    turn_complete: (event) => this.#endTurn(event, 'completed'),
    turn_aborted: (event) => this.#endTurn(event, 'interrupted'),
    error: (event) => this.log.failTurn(turnError(event)),
    thread_rolled_back: (event) => this.log.rollBack(event.number('num_turns') ?? 0),
    thread_name_updated: (event) => {
      this.name = event.text('thread_name');
    },
    token_count: (event) => this.#takeTokens(event.object('info')),
    item_completed: (event) => this.#takeItem(event),
    agent_reasoning: (event) =>
      this.log.addReasoning(event.text('text') ?? '', 'summary', this.#newId),
    agent_reasoning_raw_content: (event) =>
      this.log.addReasoning(event.text('text') ?? '', 'content', this.#newId),
  };

  constructor(ids: Ids, startedAtMs: number) {
    this.log = new RolloutLog(ids, startedAtMs);
    this.#newId = () => ids.next();
  }

  take({ type, payload, atMs }: RolloutRecord): void {
    this.log.advance(atMs);
    switch (type) {
      case 'response_item':
        for (const item of this.#responseItems([payload])) this.log.addModelItem(item);
        return;
      case 'compacted':
        this.log.compact(
          payload.has('replacement_history')
            ? this.#responseItems(payload.objects('replacement_history'))
            : null,
          payload.text('message') ?? '',
        );
        return;
      case 'turn_context':
        this.last = {
          model: payload.text('model'),
          effort: payload.text('effort'),
          cwd: payload.text('cwd'),
        };
        return;
      case 'event_msg': {
        const event = payload.text('type') ?? '';
        const take = Object.hasOwn(this.#events, event) ? this.#events[event] : undefined;
        if (take !== undefined) take(payload);
        else this.#takeItemEvent(payload);
      }
    }
  }

  #responseItems(payloads: Fields[]): ResponseItem[] {
    const items = payloads.map(rolloutResponseItem).filter((item) => item !== null);
    this.unreadable += payloads.length - items.length;
    return items;
  }

  #beginTurn(event: Fields): void {
    this.log.beginTurn(event.text('turn_id'), this.#within(event.number('started_at')));
  }

  #endTurn(event: Fields, status: 'completed' | 'interrupted'): void {
    this.log.endTurn(event.text('turn_id'), {
      status,
      error: turnError(event.object('error')),
      completedAtMs: this.#within(event.number('completed_at')),
      durationMs: event.number('duration_ms'),
    });
  }

  #takeItem(event: Fields): void {
    const item = completedItem(event.object('item'), this.#newId);
    if (item === null) return;
    const times = {
      startedAtMs: event.number('started_at_ms'),
      completedAtMs: event.number('completed_at_ms'),
    };
    this.log.addItem(item, { turnId: event.text('turn_id'), ...times });
  }

  #takeItemEvent(event: Fields): void {
    if (event.text('type') === 'user_message' && isContext(event.text('message') ?? '')) return;
    const item = eventItem(event, this.#newId);
    if (item !== null) this.log.addItem(item, { turnId: event.text('turn_id') });
  }

  #takeTokens(info: Fields): void {
    const { turnId } = this.log;
    if (turnId === null || !info.has('total_token_usage')) return;
    this.tokenUsage = {
      turnId,
      usage: {
        total: tokens(info.object('total_token_usage')),
        last: tokens(info.object('last_token_usage')),
        modelContextWindow: info.number('model_context_window'),
      },
    };
  }

  /**
   * Converts an event's time, in seconds, to milliseconds: the time of its record if that is in the
   * same second.
   */
  #within(seconds: number | null): number {
    const { nowMs } = this.log;
    return seconds === null || Math.floor(nowMs / 1000) === seconds ? nowMs : seconds * 1000;
  }
}

function tokens(usage: Fields): TokenUsageBreakdown {
  const count = (key: string) => Math.max(0, Math.floor(usage.number(key) ?? 0));
  return {
    totalTokens: count('total_tokens'),
    inputTokens: count('input_tokens'),
    cachedInputTokens: count('cached_input_tokens'),
    cacheWriteInputTokens: count('cache_write_input_tokens'),
    outputTokens: count('output_tokens'),
    reasoningOutputTokens: count('reasoning_output_tokens'),
  };
}
