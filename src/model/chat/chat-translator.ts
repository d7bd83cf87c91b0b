import { isObject } from '../../base/json-value.ts';
import type { TokenUsageBreakdown } from '../../protocol/generated/types.ts';
import { AnswerItems } from '../http/answer/answer-items.ts';
import { emptyAnswer } from '../http/answer/empty-answer.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { streamFailure } from '../http/http-failure.ts';
import type { EventTranslator, ProviderJson, Translation } from '../http/provider-api.ts';
import type { ModelEvent, ModelRequest } from '../model.ts';
import { modelFailure } from '../model-failure.ts';
import { ChatToolCalls } from './chat-tool-calls.ts';
import { chatUsage } from './chat-usage.ts';

/** Finish reasons of incomplete responses, in words. */
const INCOMPLETE = new Map([
  ['length', 'the token limit of the model or the server was reached'],
  ['content_filter', 'the provider withheld the rest because of its content (content_filter)'],
]);

/**
 * Translates the chunks of one Chat Completions response, or a whole response that is not a stream.
 * The API has no items: reasoning is one item until text or calls begin, all text is one message,
 * and calls are reported at the end. An answer with neither text nor calls is a failure, unless the
 * model has spoken before in the turn.
 */
export class ChatTranslator implements EventTranslator {
  readonly takesWhole = true;
  readonly skipsNoise = false;
  readonly #endpoint: Endpoint;
  readonly #calls: ChatToolCalls;
  readonly #request: ModelRequest;
  readonly #items: AnswerItems;
  #itemsMade = 0;
  #finished = false;
  #usage: TokenUsageBreakdown | null = null;

  constructor(endpoint: Endpoint, request: ModelRequest) {
    this.#endpoint = endpoint;
    this.#request = request;
    this.#items = new AnswerItems({
      newReasoningId: () => `rs_${this.#itemsMade++}`,
      newMessage: () => ({
        type: 'message',
        id: `msg_${this.#itemsMade++}`,
        role: 'assistant',
        content: [],
      }),
      partType: 'reasoning_text',
      keepsText: true,
    });
    const customNames = new Set(
      request.tools.filter(({ type }) => type === 'custom').map(({ name }) => name),
    );
    this.#calls = new ChatToolCalls({
      customNames,
      makeId: (number) => newCallId(request, number),
    });
  }

  get finished(): boolean {
    return this.#finished;
  }

  translate(chunk: ProviderJson): Translation[] {
    if (isStated(chunk.error)) return [streamFailure(this.#endpoint, chunk.error)];
    const usage = chatUsage(chunk.usage);
    this.#usage = usage ?? this.#usage;
    const events: Translation[] = [];
    const choice = firstChoice(chunk.choices);
    if (choice !== null && !this.#finished) this.#takeChoice(choice, events);
    // Earlier counts may have been intermediate ones.
    if (this.#finished && usage !== null) events.push({ type: 'completed', usage });
    return events;
  }

  /**
   * Some servers send [DONE] without a finish reason. A stream that ends without [DONE] needs one
   * to be complete.
   */
  end(said: boolean): Translation[] {
    if (this.#finished) return [{ type: 'completed', usage: this.#usage }];
    if (!said) return [];
    const events: Translation[] = [];
    this.#items.endAnswer(events);
    if (this.#items.messageId === null && !this.#calls.any) return events;
    this.#finish(events);
    return [...events, { type: 'completed', usage: this.#usage }];
  }

  #takeChoice(choice: ProviderJson, events: Translation[]): void {
    const delta = isObject(choice.delta) ? choice.delta : choice.message;
    const problem = isObject(delta) ? this.#takeDelta(delta, events) : null;
    if (problem !== null) {
      events.push(this.#garbage(problem));
      return;
    }
    const reason = choice.finish_reason;
    if (typeof reason !== 'string' || reason === '') return;
    this.#items.endAnswer(events);
    const why = INCOMPLETE.get(reason);
    if (why !== undefined) events.push(this.#incomplete(why));
    else if (reason === 'error') events.push(streamFailure(this.#endpoint, choice.error));
    else this.#finish(events);
  }

  /** Returns null, or the problem with a delta as a sentence without a subject. */
  #takeDelta(delta: ProviderJson, events: Translation[]): string | null {
    const reasoning = delta.reasoning_content ?? delta.reasoning ?? '';
    const content = delta.content ?? '';
    const refusal = delta.refusal ?? '';
    if (typeof reasoning === 'string') this.#items.reason(reasoning, events);
    const text = contentText(content);
    if (text === null) return 'sent a "content" that is not a string';
    if (typeof refusal !== 'string') return 'sent a "refusal" that is not a string';
    this.#items.answer(text, events);
    this.#items.say(refusal, events);
    const { function_call: legacy } = delta;
    const calledBefore = this.#calls.any;
    const news: ModelEvent[] = [];
    const problem =
      this.#calls.add(delta.tool_calls, news) ??
      this.#calls.add(isObject(legacy) ? [{ function: legacy }] : null, news);
    if (!calledBefore && this.#calls.any) this.#items.completeReasoning(events);
    events.push(...news);
    return problem;
  }

  /**
   * Completes all items; the token counts may still follow. If the calls are unusable, completes
   * none, so that the request is sent again.
   */
  #finish(events: Translation[]): void {
    const calls = this.#calls.items();
    if (typeof calls === 'string') {
      events.push(this.#garbage(calls));
      return;
    }
    const { messageId: id, text, hasReasoned } = this.#items;
    const isEmpty = calls.length === 0 && text.trim() === '';
    const problem = isEmpty
      ? emptyAnswer(this.#request, {
          label: this.#endpoint.label,
          hasReasoned: hasReasoned && id === null,
        })
      : null;
    this.#items.completeReasoning(events);
    if (problem !== null) {
      events.push(modelFailure(problem, 'other', 'never'));
      return;
    }
    this.#finished = true;
    if (id !== null) {
      const content = [{ type: 'output_text' as const, text }];
      events.push({
        type: 'itemCompleted',
        item: { type: 'message', id, role: 'assistant', content },
      });
    }
    events.push(...calls.map((item): ModelEvent => ({ type: 'itemCompleted', item })));
  }

  #incomplete(why: string): Translation {
    return modelFailure(
      `${this.#endpoint.label} left its response incomplete: ${why}.`,
      'other',
      'never',
    );
  }

  #garbage(problem: string): Translation {
    return modelFailure(`${this.#endpoint.label} ${problem}.`, 'other', 'stream');
  }
}

/**
 * An id for a call without one. A prompt gets shorter when it is compacted, so its length alone
 * could name an earlier call.
 */
function newCallId({ input }: ModelRequest, number: number): string {
  const taken = new Set(input.map((item) => ('call_id' in item ? item.call_id : null)));
  for (let length = input.length; ; length++)
    if (!taken.has(`call_${length}_${number}`)) return `call_${length}_${number}`;
}

function firstChoice(choices: unknown): ProviderJson | null {
  if (!Array.isArray(choices)) return null;
  const first: unknown = choices.find((choice) => isObject(choice) && (choice.index ?? 0) === 0);
  return isObject(first) ? first : null;
}

/** Returns a string, or the joined text parts of an array; null for anything else. */
function contentText(content: unknown): string | null {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return null;
  return content
    .map((part) =>
      isObject(part) && part.type === 'text' && typeof part.text === 'string' ? part.text : '',
    )
    .join('');
}

function isStated(error: unknown): boolean {
  return error !== undefined && error !== null;
}
