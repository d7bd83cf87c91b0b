import { mapStrings, parsedJson } from '../../base/json-value.ts';
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
  /** The index of the text in its item; null if the item has only one. */
  index: number | null;
  /** A delta of this text without secrets in its fields. */
  shown: Delta;
  /** The end of the text so far, in which an escape sequence may begin. */
  tail: string;
  /** Further deltas of this text are left out. The completed item contains the whole text. */
  isClosed: boolean;
}

/**
 * Words of the formats. They are never redacted, even if a header has one as its value, because
 * events need them.
 */
const FORMAT_WORDS: ReadonlySet<string> = new Set([
  ...[
    'itemStarted',
    'reasoningSummaryPart',
    'textDelta',
    'reasoningSummaryDelta',
    'reasoningDelta',
    'callDelta',
    'itemCompleted',
  ],
  ...[
    'leftOut',
    'saidNothing',
    'retrying',
    'completed',
    'incomplete',
    'in_progress',
    'assistant',
    'reasoning',
    'arguments',
    'encrypted_content',
  ],
  ...[
    'output_text',
    'summary_text',
    'reasoning_text',
    'function_call',
    'custom_tool_call',
    'local_shell_call',
    'web_search_call',
  ],
  ...['image_generation_call', 'commentary', 'final_answer'],
]);
/** The letters of the short escape sequences, by their characters, as patterns. */
const SHORT_ESCAPES: Record<string, string> = {
  '/': '/',
  '"': '"',
  '\\': '\\\\',
  '\b': 'b',
  '\f': 'f',
  '\n': 'n',
  '\r': 'r',
  '\t': 't',
};
/** Longer arguments with such an escape sequence are not examined, which would block the server. */
const EXAMINED_CHARS_MAX = 1024 * 1024;
/** The maximum depth of arguments. No tool takes deeper ones. */
const ARGUMENTS_DEPTH_MAX = 500;
/** Takes the place of arguments that cannot be examined. */
const HIDDEN_ARGUMENTS = JSON.stringify({ hidden: '…' });
const NOTHING: readonly ModelEvent[] = [];
const ESCAPE_CHARS = '\\u0000'.length;

/**
 * Replaces the secrets of one request in the events of its response, since a provider may repeat
 * its key. This includes secrets that are split over several deltas of one text.
 */
export class EventRedactor {
  readonly #secrets: readonly string[];
  /** Matches the escape sequence of a character that occurs in a secret. */
  readonly #escapedSecret: RegExp;
  /** Matches any escape sequence that stands for a character of a secret. */
  readonly #hidingEscape: RegExp;
  readonly #channels = new Map<string, Channel>();
  #last: Channel | null = null;

  constructor(secrets: readonly string[]) {
    this.#secrets = secrets;
    const chars = [...new Set(secrets.join(''))];
    const codes = chars.map((char) => char.charCodeAt(0).toString(16).padStart(4, '0'));
    this.#escapedSecret = new RegExp(`\\\\u(?:${codes.join('|')})`, 'i');
    const letters = chars.flatMap((char) => SHORT_ESCAPES[char] ?? []);
    this.#hidingEscape = new RegExp(
      [this.#escapedSecret.source, ...letters.map((letter) => `\\\\${letter}`)].join('|'),
      'i',
    );
  }

  /** Returns the events without secrets. A delta whose whole text is held back is left out. */
  redact(events: ModelEvent[]): ModelEvent[] {
    if (this.#secrets.length === 0) return events;
    const shown: ModelEvent[] = [];
    for (const event of events) shown.push(...this.#redactEvent(event));
    return shown;
  }

  redactFailure(failure: ModelFailure): ModelFailure {
    return this.#secrets.length === 0
      ? failure
      : { ...failure, error: this.#redactValue(failure.error) };
  }

  #redactEvent(event: ModelEvent): readonly ModelEvent[] {
    switch (event.type) {
      case 'textDelta':
      case 'reasoningSummaryDelta':
      case 'reasoningDelta':
      case 'callDelta':
        return this.#redactDelta(event);
      case 'reasoningSummaryPart':
        return [
          ...this.#endChannels((channel) => isEarlierPart(channel, event)),
          this.#redactValue(event),
        ];
      case 'itemCompleted':
        return [
          ...this.#endChannels(({ owner }) => isOf(owner, event.item)),
          { ...event, item: this.#redactItem(event.item) },
        ];
      case 'completed':
        return [...this.#endChannels(() => true), event];
      case 'answered':
      case 'moderated':
      case 'leftOut':
      case 'saidNothing':
      case 'itemStarted':
      case 'started':
      case 'retrying':
      case 'failed':
        return [this.#redactValue(event)];
      default:
        return event satisfies never;
    }
  }

  #redactDelta(event: Delta): readonly ModelEvent[] {
    const channel = this.#channelOf(event);
    if (event.type === 'callDelta' && !event.custom) {
      const seen = channel.tail + event.delta;
      channel.tail = seen.slice(1 - ESCAPE_CHARS);
      // Readers of the arguments decode escape sequences, so a secret can be hidden in them.
      if (this.#escapedSecret.test(seen)) channel.isClosed = true;
    }
    return channel.isClosed ? NOTHING : shown(channel, channel.text.push(event.delta));
  }

  #channelOf(event: Delta): Channel {
    const owner = event.type === 'callDelta' ? event.callId : event.itemId;
    const index = 'index' in event ? event.index : null;
    // Almost all deltas continue the text of the one before.
    const last = this.#last;
    if (
      last !== null &&
      last.owner === owner &&
      last.index === index &&
      last.shown.type === event.type
    )
      return last;
    const key = `${event.type} ${index} ${owner}`;
    this.#last = this.#channels.get(key) ?? this.#open(key, { event, owner, index });
    return this.#last;
  }

  #open(
    key: string,
    { event, owner, index }: { event: Delta; owner: string; index: number | null },
  ): Channel {
    const channel: Channel = {
      owner,
      index,
      shown: this.#redactValue(event),
      text: new RedactedStream(this.#secrets),
      tail: '',
      isClosed: false,
    };
    this.#channels.set(key, channel);
    return channel;
  }

  /**
   * Ends texts, and returns the parts that were held back. Later deltas of these texts are left
   * out.
   */
  #endChannels(isEnded: (channel: Channel) => boolean): ModelEvent[] {
    const ended = [...this.#channels.values()].filter(
      (channel) => !channel.isClosed && isEnded(channel),
    );
    return ended.flatMap((channel) => {
      channel.isClosed = true;
      return shown(channel, channel.text.end());
    });
  }

  #redactItem(item: ResponseItem): ResponseItem {
    const shown = this.#redactValue(item);
    if (shown.type === 'message') return { ...shown, content: this.#redactParts(shown.content) };
    return shown.type === 'function_call'
      ? { ...shown, arguments: this.#redactArguments(shown.arguments) }
      : shown;
  }

  /** Also finds secrets that are split over several parts: clients see the parts as one text. */
  #redactParts<T extends object>(parts: T[]): T[] {
    const texts = parts.map((part) =>
      'text' in part && typeof part.text === 'string' ? part.text : '',
    );
    if (redact(texts.join(''), this.#secrets) === texts.join('')) return parts;
    const joined = new RedactedStream(this.#secrets);
    const shown = texts.map((text) => joined.push(text));
    shown[parts.findLastIndex((part) => 'text' in part)] += joined.end();
    return parts.map((part, index) => ('text' in part ? { ...part, text: shown[index] } : part));
  }

  /** Also finds secrets that are written with escape sequences. */
  #redactArguments(text: string): string {
    if (!this.#hidingEscape.test(text)) return text;
    if (text.length > EXAMINED_CHARS_MAX || isDeep(text)) return HIDDEN_ARGUMENTS;
    const value = parsedJson(text);
    const hidden = JSON.stringify(this.#redactValue(value));
    return value === undefined || hidden === JSON.stringify(value) ? text : hidden;
  }

  #redactText(text: string): string {
    return FORMAT_WORDS.has(text) ? text : redact(text, this.#secrets);
  }

  /**
   * A copy of a JSON value without secrets, in keys and in strings. Values that are nested too
   * deeply become null.
   */
  #redactValue<T>(value: T): T {
    const mapKey = (text: string) => this.#redactText(text);
    return mapStrings(value, mapKey, { mapKey, depthMax: ARGUMENTS_DEPTH_MAX });
  }
}

/** Whether a JSON text may be nested too deeply to be examined. */
function isDeep(text: string): boolean {
  let depth = 0;
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    depth += bracket === '[' || bracket === '{' ? 1 : -1;
    if (depth > ARGUMENTS_DEPTH_MAX) return true;
  }
  return false;
}

function shown(channel: Channel, delta: string): readonly ModelEvent[] {
  return delta === '' ? NOTHING : [{ ...channel.shown, delta }];
}

/** Whether the deltas with this id belong to the item. */
function isOf(owner: string, item: ResponseItem): boolean {
  return ('id' in item && item.id === owner) || ('call_id' in item && item.call_id === owner);
}

function isEarlierPart(
  { owner, index, shown }: Channel,
  part: Extract<ModelEvent, { type: 'reasoningSummaryPart' }>,
): boolean {
  return (
    shown.type === 'reasoningSummaryDelta' &&
    owner === part.itemId &&
    index !== null &&
    index < part.index
  );
}
