import { isObject, parsedJson } from '../../base/json-value.ts';
import type { ResponseItem } from '../../protocol/generated/types.ts';
import { RedactedStream, redact } from '../../secrets/redact.ts';
import type { ModelEvent } from '../model.ts';
import type { ModelFailure } from '../model-failure.ts';

type Delta = Extract<ModelEvent, { delta: string }>;

/** A text that arrives in deltas. */
interface Channel {
  text: RedactedStream;
  /** The id of the item or call, as the provider sends it. */
  owner: string;
  /** A delta of this text without secrets in its fields. */
  shown: Delta;
  /** The end of what has arrived, in which an escape sequence may begin. */
  tail: string;
  /** Nothing more of this text is passed on: the completed item has all of it. */
  isClosed: boolean;
}

const ESCAPE_CHARS = '\\u0000'.length;

/**
 * Replaces the secrets of one request in the events of its response, since a provider may repeat its key. This includes secrets
 * that are split over several deltas of one text.
 */
export class EventRedactor {
  readonly #secrets: readonly string[];
  /** Matches the escape sequence of a character that occurs in a secret. */
  readonly #escapedSecret: RegExp;
  readonly #channels = new Map<string, Channel>();

  constructor(secrets: readonly string[]) {
    this.#secrets = secrets;
    const codes = [...new Set(secrets.join(''))].map((char) => char.charCodeAt(0).toString(16).padStart(4, '0'));
    this.#escapedSecret = new RegExp(`\\\\u(?:${codes.join('|')})`, 'i');
  }

  /** Returns the events without secrets. A delta whose whole text is held back is left out. */
  redact(events: ModelEvent[]): ModelEvent[] {
    return this.#secrets.length === 0 ? events : events.flatMap((event) => this.#redactEvent(event));
  }

  redactFailure(failure: ModelFailure): ModelFailure {
    return this.#secrets.length === 0 ? failure : { ...failure, error: this.#redactValue(failure.error) };
  }

  #redactEvent(event: ModelEvent): ModelEvent[] {
    switch (event.type) {
      case 'textDelta':
      case 'reasoningSummaryDelta':
      case 'reasoningDelta':
      case 'callDelta':
        return this.#redactDelta(event);
      case 'reasoningSummaryPart':
        return [...this.#endChannels((channel) => isEarlierPart(channel, event)), this.#redactValue(event)];
      case 'itemCompleted':
        return [...this.#endChannels(({ owner }) => isOf(owner, event.item)), { ...event, item: this.#redactItem(event.item) }];
      case 'completed':
        return [...this.#endChannels(() => true), event];
      case 'itemStarted':
      case 'started':
      case 'retrying':
      case 'failed':
        return [this.#redactValue(event)];
      default:
        return event satisfies never;
    }
  }

  #redactDelta(event: Delta): ModelEvent[] {
    const channel = this.#channelOf(event);
    if (event.type === 'callDelta' && !event.custom) {
      const seen = channel.tail + event.delta;
      channel.tail = seen.slice(1 - ESCAPE_CHARS);
      // Whoever reads the arguments decodes escape sequences, so a secret may be written with them.
      if (this.#escapedSecret.test(seen)) channel.isClosed = true;
    }
    return channel.isClosed ? [] : shown(channel, channel.text.push(event.delta));
  }

  #channelOf(event: Delta): Channel {
    const owner = event.type === 'callDelta' ? event.callId : event.itemId;
    const key = `${event.type} ${'index' in event ? event.index : ''} ${owner}`;
    const known = this.#channels.get(key);
    if (known !== undefined) return known;
    const channel: Channel = {
      owner,
      shown: this.#redactValue(event),
      text: new RedactedStream(this.#secrets),
      tail: '',
      isClosed: false,
    };
    this.#channels.set(key, channel);
    return channel;
  }

  /** Ends texts, and returns what was held back of them. Later deltas of these texts are left out. */
  #endChannels(isEnded: (channel: Channel) => boolean): ModelEvent[] {
    const ended = [...this.#channels.values()].filter((channel) => !channel.isClosed && isEnded(channel));
    return ended.flatMap((channel) => {
      channel.isClosed = true;
      return shown(channel, channel.text.end());
    });
  }

  #redactItem(item: ResponseItem): ResponseItem {
    const shown = this.#redactValue(item);
    if (shown.type === 'message') return { ...shown, content: this.#redactParts(shown.content) };
    return shown.type === 'function_call' ? { ...shown, arguments: this.#redactArguments(shown.arguments) } : shown;
  }

  /** Also finds secrets that are split over several parts: clients see the parts as one text. */
  #redactParts<T extends object>(parts: T[]): T[] {
    const texts = parts.map((part) => ('text' in part && typeof part.text === 'string' ? part.text : ''));
    if (redact(texts.join(''), this.#secrets) === texts.join('')) return parts;
    const joined = new RedactedStream(this.#secrets);
    const shown = texts.map((text) => joined.push(text));
    shown[parts.findLastIndex((part) => 'text' in part)] += joined.end();
    return parts.map((part, index) => ('text' in part ? { ...part, text: shown[index] } : part));
  }

  /** Also finds secrets that are written with escape sequences. */
  #redactArguments(text: string): string {
    const value = text.includes('\\') ? parsedJson(text) : undefined;
    const hidden = JSON.stringify(this.#redactValue(value));
    return value === undefined || hidden === JSON.stringify(value) ? text : hidden;
  }

  /** A copy of a JSON value without secrets, in keys and in strings. */
  #redactValue<T>(value: T): T {
    if (typeof value === 'string') return redact(value, this.#secrets) as T;
    if (Array.isArray(value)) return value.map((part) => this.#redactValue(part)) as T;
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [redact(key, this.#secrets), this.#redactValue(part)])) as T;
  }
}

function shown(channel: Channel, delta: string): ModelEvent[] {
  return delta === '' ? [] : [{ ...channel.shown, delta }];
}

/** Whether the deltas with this id belong to the item. */
function isOf(owner: string, item: ResponseItem): boolean {
  return ('id' in item && item.id === owner) || ('call_id' in item && item.call_id === owner);
}

function isEarlierPart(
  { owner, shown: { type, ...fields } }: Channel,
  part: Extract<ModelEvent, { type: 'reasoningSummaryPart' }>,
): boolean {
  return type === 'reasoningSummaryDelta' && owner === part.itemId && 'index' in fields && fields.index < part.index;
}
