import { isObject, type JsonValue, mapStrings } from '../../base/json-value.ts';
import { cutText } from '../../base/text/cut-text.ts';
import type { ResponseItem } from '../../protocol/generated/types.ts';
import { redact } from '../../secrets/redact.ts';
import { emptyAnswer } from '../http/answer/empty-answer.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { streamFailure } from '../http/http-failure.ts';
import type { EventTranslator, ProviderJson, Translation } from '../http/provider-api.ts';
import type { ModelEvent, ModelRequest } from '../model.ts';
import { type ModelFailure, modelFailure } from '../model-failure.ts';
import { OpenMessage } from './open-message.ts';
import { readResponseItem } from './read-response-item.ts';
import { tokenUsage } from './token-usage.ts';

/** The key of the metadata of a response under which providers tell about moderation. */
const MODERATION_KEY = 'openai_chatgpt_moderation_metadata';
const MODERATION_CHARS_MAX = 64 * 1024;
const REASON_CHARS_MAX = 100;
const ID_CHARS_MAX = 200;

interface OpenItem {
  item: ResponseItem;
  index: number;
  /** Null: the item is no message of the model. */
  message: OpenMessage | null;
}

/**
 * Translates the events of one response. It keeps the open items, since a delta may name its item
 * only by index. A response that completes with neither text nor calls says so.
 */
export class ResponseTranslator implements EventTranslator {
  readonly takesWhole = false;
  readonly skipsNoise = true;
  readonly finished = false;
  readonly #endpoint: Endpoint;
  readonly #request: ModelRequest;
  readonly #open = new Map<string, OpenItem>();
  #namesMade = 0;
  #hasReasoned = false;
  /** Whether there is any text, or an item that is neither a message nor reasoning. */
  #hasAnswered = false;

  constructor(endpoint: Endpoint, request: ModelRequest) {
    this.#endpoint = endpoint;
    this.#request = request;
  }

  translate(event: ProviderJson): Translation[] {
    const meaning = this.#meaning(event) ?? [];
    const events = Array.isArray(meaning) ? meaning : [meaning];
    // A server may not send the end of a message whose text it has sent.
    this.#hasAnswered ||= events.some(
      (each) => 'type' in each && each.type === 'textDelta' && each.delta.trim() !== '',
    );
    return events;
  }

  /** Only a response.completed event completes a response. */
  end(): Translation[] {
    return [];
  }

  #meaning(event: ProviderJson): Translation | Translation[] | null {
    switch (event.type) {
      case 'response.output_item.added':
        return this.#itemAdded(event);
      case 'response.output_item.done':
        return this.#itemDone(event);
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        return this.#delta(
          event,
          (itemId, delta) => this.#open.get(itemId)?.message?.push(delta) ?? [],
        );
      case 'response.reasoning_summary_part.added':
        return this.#inItem(event, (itemId) => ({
          type: 'reasoningSummaryPart',
          itemId,
          index: place(event, 'summary_index'),
        }));
      case 'response.reasoning_summary_text.delta':
        return this.#delta(event, (itemId, delta) => ({
          type: 'reasoningSummaryDelta',
          itemId,
          index: place(event, 'summary_index'),
          delta,
        }));
      case 'response.reasoning_text.delta':
        return this.#delta(event, (itemId, delta) => ({
          type: 'reasoningDelta',
          itemId,
          index: place(event, 'content_index'),
          delta,
        }));
      case 'response.custom_tool_call_input.delta':
      case 'response.function_call_arguments.delta':
        return this.#callDelta(event);
      case 'response.metadata':
        return moderated(event.metadata);
      case 'response.completed':
        return this.#completed(event.response);
      case 'response.failed':
        return streamFailure(
          this.#endpoint,
          isObject(event.response) ? event.response.error : null,
        );
      case 'response.incomplete':
        return this.#incomplete(event.response);
      case 'error':
        return streamFailure(this.#endpoint, isObject(event.error) ? event.error : event);
      case undefined:
        return isObject(event.error) ? streamFailure(this.#endpoint, event.error) : null;
      default:
        return null;
    }
  }

  #itemAdded(event: ProviderJson): Translation | null {
    const read = readResponseItem(event.item);
    // An item may be incomplete when it begins; it is checked when it is done.
    if (read === null || read.problem !== null) return null;
    const id = itemId(read.item) ?? `item_${this.#namesMade++}`;
    if (this.#open.has(id)) return null;
    const item = { ...read.item, id };
    const message = this.#messageOf(item);
    this.#open.set(id, { item: read.item, index: place(event, 'output_index'), message });
    return message === null ? { type: 'itemStarted', item } : null;
  }

  #itemDone(event: ProviderJson): Translation | Translation[] | null {
    const read = readResponseItem(event.item);
    if (read === null) return null;
    if (read.problem !== null) return this.#invalidItem(event.item);
    const ownId = itemId(read.item);
    const id =
      ownId !== null && this.#open.has(ownId)
        ? ownId
        : (this.#openAt(place(event, 'output_index'), read.item.type) ?? ownId);
    const open = this.#open.get(id ?? '');
    this.#open.delete(id ?? '');
    const item: ResponseItem = id === null ? read.item : { ...read.item, id };
    const message =
      open?.message ?? this.#messageOf({ ...item, id: id ?? `item_${this.#namesMade++}` });
    if (item.type === 'message' && message !== null) {
      const { events, says } = message.complete(item);
      this.#hasAnswered ||= says;
      return events;
    }
    this.#hasReasoned ||= item.type === 'reasoning';
    this.#hasAnswered ||= item.type !== 'reasoning';
    return { type: 'itemCompleted', item };
  }

  #messageOf(item: ResponseItem & { id: string }): OpenMessage | null {
    if (item.type !== 'message' || item.role !== 'assistant') return null;
    return new OpenMessage(item, () => {
      this.#hasReasoned = true;
      return `thought_${this.#namesMade++}`;
    });
  }

  #completed(response: unknown): Translation[] {
    const completed: ModelEvent = {
      type: 'completed',
      usage: tokenUsage(response),
      ...responseId(response),
    };
    if (this.#hasAnswered) return [completed];
    const message = emptyAnswer(this.#request, {
      label: this.#endpoint.label,
      hasReasoned: this.#hasReasoned,
    });
    return message === null ? [completed] : [{ type: 'saidNothing', message }, completed];
  }

  #delta(
    event: ProviderJson,
    make: (itemId: string, delta: string) => ModelEvent | Translation[],
  ): Translation | Translation[] | null {
    const { delta } = event;
    if (typeof delta !== 'string')
      return this.#garbage(`sent a "${event.type}" without a string in "delta"`);
    return delta === '' ? null : this.#inItem(event, (id) => make(id, delta));
  }

  /** These deltas are only shown, so problems are reported when the call is done. */
  #callDelta({ item_id: id, output_index: index, delta, type }: ProviderJson): Translation | null {
    const itemType =
      type === 'response.custom_tool_call_input.delta' ? 'custom_tool_call' : 'function_call';
    const openId =
      typeof id === 'string' && this.#open.has(id)
        ? id
        : this.#openAt(place({ index }, 'index'), itemType);
    const item = this.#open.get(openId ?? '')?.item;
    if (item?.type !== 'custom_tool_call' && item?.type !== 'function_call') return null;
    if (typeof delta !== 'string' || delta === '') return null;
    return {
      type: 'callDelta',
      callId: item.call_id,
      name: item.name,
      custom: item.type === 'custom_tool_call',
      delta,
    };
  }

  /** Skips a delta of an item that has not begun: the item comes whole when it is done. */
  #inItem(
    event: ProviderJson,
    make: (itemId: string) => ModelEvent | Translation[],
  ): Translation | Translation[] | null {
    const id = event.item_id ?? null;
    if (id !== null && typeof id !== 'string')
      return this.#garbage(`sent a "${event.type}" whose "item_id" is not a string`);
    if (id !== null && this.#open.has(id)) return make(id);
    const type =
      event.type === 'response.output_text.delta' || event.type === 'response.refusal.delta'
        ? 'message'
        : 'reasoning';
    const found = this.#openAt(place(event, 'output_index'), type);
    return found === null ? null : make(found);
  }

  #openAt(index: number, type: string): string | null {
    for (const [id, open] of this.#open)
      if (open.index === index && open.item.type === type) return id;
    return null;
  }

  #incomplete(response: unknown): ModelFailure {
    const details = isObject(response) ? response.incomplete_details : null;
    const stated =
      isObject(details) && typeof details.reason === 'string' ? details.reason : 'no reason given';
    const reason = cutText(redact(stated, this.#endpoint.secrets), REASON_CHARS_MAX);
    return modelFailure(
      `${this.#endpoint.label} left its response incomplete: ${reason}.`,
      'other',
      'never',
    );
  }

  /** The problem may quote a part of the item, so secrets are removed from the item first. */
  #invalidItem(item: unknown): ModelFailure {
    const { secrets } = this.#endpoint;
    const shown = mapStrings(item, (text) => redact(text, secrets));
    return this.#garbage(`sent ${readResponseItem(shown)?.problem ?? 'an invalid item'}`);
  }

  #garbage(problem: string): ModelFailure {
    return modelFailure(`${this.#endpoint.label} ${problem}.`, 'other', 'stream');
  }
}

function itemId(item: ResponseItem): string | null {
  return 'id' in item && typeof item.id === 'string' && item.id !== '' ? item.id : null;
}

function place(event: ProviderJson, name: string): number {
  const value = event[name];
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0;
}

/** The provider's id of a response, if it has one. */
function responseId(response: unknown): { responseId?: string } {
  const id = isObject(response) ? response.id : null;
  return typeof id === 'string' && id !== '' ? { responseId: cutText(id, ID_CHARS_MAX) } : {};
}

/**
 * The moderation metadata of a response, as it came; null: none, or more than clients should get.
 */
function moderated(metadata: unknown): ModelEvent | null {
  const told = isObject(metadata) ? metadata[MODERATION_KEY] : undefined;
  if (told === undefined || told === null) return null;
  return JSON.stringify(told).length > MODERATION_CHARS_MAX
    ? null
    : { type: 'moderated', metadata: told as JsonValue };
}
