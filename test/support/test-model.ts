import type { Model, ModelEvent, ModelRequest } from '../../src/model/model.ts';
import type {
  MessagePhase,
  ResponseItem,
  TokenUsageBreakdown,
  TurnError,
} from '../../src/protocol/generated/types.ts';
import { Gate } from './gate.ts';

/** An event, or a point at which the response waits. */
export type Step = ModelEvent | Gate;

/** One response: its steps, or what makes them when the request comes. */
export type ScriptedResponse =
  | readonly Step[]
  | ((request: ModelRequest, signal: AbortSignal) => readonly Step[] | AsyncIterable<ModelEvent>);

/**
 * A model that returns scripted responses, one per request, and keeps the requests. Fails if no
 * response is left.
 */
export class TestModel implements Model {
  readonly requests: ModelRequest[] = [];
  readonly #responses: ScriptedResponse[];
  #waiting: { count: number; resolve: () => void }[] = [];

  constructor(...responses: ScriptedResponse[]) {
    this.#responses = responses;
  }

  /** Adds responses after those that are left. */
  push(...responses: ScriptedResponse[]): void {
    this.#responses.push(...responses);
  }

  /** Removes the responses that are left. */
  clear(): void {
    this.#responses.length = 0;
  }

  /** The request of that number, from 1, as soon as it has been made. */
  async asked(count: number): Promise<ModelRequest> {
    if (this.requests.length < count)
      await new Promise<void>((resolve) => this.#waiting.push({ count, resolve }));
    return this.request(count);
  }

  /** The request of that number, from 1. */
  request(count: number): ModelRequest {
    const request = this.requests[count - 1];
    if (request === undefined)
      throw new Error(`the model was asked ${this.requests.length} times, not ${count}`);
    return request;
  }

  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent> {
    this.requests.push(structuredClone(request));
    for (const { count, resolve } of this.#waiting) if (count <= this.requests.length) resolve();
    this.#waiting = this.#waiting.filter(({ count }) => count > this.requests.length);
    const next = this.#responses.shift() ?? [
      failed(`the test has no response to request ${this.requests.length}`),
    ];
    const steps = typeof next === 'function' ? next(request, signal) : next;
    return Symbol.asyncIterator in steps ? steps : events(steps, signal);
  }
}

async function* events(
  steps: readonly Step[],
  signal: AbortSignal,
): AsyncGenerator<ModelEvent, void, undefined> {
  for (const step of steps) {
    if (step instanceof Gate) await step.pass(signal);
    if (signal.aborted) return;
    if (!(step instanceof Gate)) yield step;
  }
}

/** The token usage of every response without one of its own. */
export const USAGE: TokenUsageBreakdown = {
  totalTokens: 15,
  inputTokens: 10,
  cachedInputTokens: 4,
  cacheWriteInputTokens: 1,
  outputTokens: 5,
  reasoningOutputTokens: 2,
};

/** A whole response from the events of its items. */
export function response(...parts: (readonly Step[])[]): Step[] {
  return [{ type: 'started' }, ...parts.flat(), { type: 'completed', usage: USAGE }];
}

/** A message of the assistant. Without deltas, its text comes as one delta. */
export function message(
  text: string,
  {
    id = 'msg_1',
    deltas = [text],
    phase,
  }: { id?: string; deltas?: string[]; phase?: MessagePhase } = {},
): ModelEvent[] {
  const named = phase === undefined ? {} : { phase };
  return [
    {
      type: 'itemStarted',
      item: { type: 'message', id, role: 'assistant', content: [], ...named },
    },
    ...deltas.map((delta): ModelEvent => ({ type: 'textDelta', itemId: id, delta })),
    { type: 'itemCompleted', item: { ...said(text), id, ...named } },
  ];
}

/** The beginning of a message without its end. */
export function messageBegun(text: string, { id = 'msg_1' }: { id?: string } = {}): ModelEvent[] {
  return message(text, { id }).slice(0, 2);
}

/** Reasoning with one part of a summary, and raw content where it is given. */
export function reasoning(
  summary: string,
  { id = 'rs_1', content }: { id?: string; content?: string } = {},
): ModelEvent[] {
  const raw = content === undefined ? [] : [content];
  return [
    { type: 'itemStarted', item: { type: 'reasoning', id, summary: [] } },
    { type: 'reasoningSummaryPart', itemId: id, index: 0 },
    { type: 'reasoningSummaryDelta', itemId: id, index: 0, delta: summary },
    ...raw.map((delta): ModelEvent => ({ type: 'reasoningDelta', itemId: id, index: 0, delta })),
    {
      type: 'itemCompleted',
      item: {
        type: 'reasoning',
        id,
        summary: [{ type: 'summary_text', text: summary }],
        ...(content === undefined ? {} : { content: [{ type: 'reasoning_text', text: content }] }),
      },
    },
  ];
}

/** A call of a function; its arguments as JSON, or as the text that they are. */
export function functionCall(
  name: string,
  args: object | string,
  { callId = 'call_1' }: { callId?: string } = {},
): ModelEvent[] {
  const item = calls(name, args, { callId });
  return [
    { type: 'itemStarted', item: { ...item, id: `fc_${callId}`, arguments: '' } },
    { type: 'itemCompleted', item: { ...item, id: `fc_${callId}` } },
  ];
}

/** The item that a call of a function leaves in the history. */
export function calls(
  name: string,
  args: object | string,
  { callId = 'call_1' }: { callId?: string } = {},
) {
  return {
    type: 'function_call' as const,
    call_id: callId,
    name,
    arguments: typeof args === 'string' ? args : JSON.stringify(args),
  };
}

/** A web search: begun, and completed with what it did. */
export function webSearch(
  action: Extract<ResponseItem, { type: 'web_search_call' }>['action'],
  { id = 'ws_1' } = {},
): ModelEvent[] {
  return [
    { type: 'itemStarted', item: { type: 'web_search_call', id, status: 'in_progress' } },
    {
      type: 'itemCompleted',
      item: {
        type: 'web_search_call',
        id,
        status: 'completed',
        ...(action === undefined ? {} : { action }),
      },
    },
  ];
}

export function failed(
  text: string,
  codexErrorInfo: TurnError['codexErrorInfo'] = 'other',
): ModelEvent {
  return { type: 'failed', error: errorOf(text, codexErrorInfo) };
}

export function retrying(text: string): ModelEvent {
  return {
    type: 'retrying',
    error: errorOf(text, { responseStreamDisconnected: { httpStatusCode: null } }),
    delayMs: 0,
  };
}

export function errorOf(
  text: string,
  codexErrorInfo: TurnError['codexErrorInfo'] = 'other',
): TurnError {
  return { message: text, codexErrorInfo, additionalDetails: null };
}

/** A message of the assistant, as in the history. */
export function said(text: string): Extract<ResponseItem, { type: 'message' }> {
  return { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] };
}

/** A message of the user, as in the history. */
export function asked(text: string): Extract<ResponseItem, { type: 'message' }> {
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
}

/** Whether a request asks for a summary of its thread. */
export function isForSummary({ input }: Pick<ModelRequest, 'input'>): boolean {
  const last = input.at(-1);
  const [part] = last?.type === 'message' ? last.content : [];
  return (
    part !== undefined &&
    'text' in part &&
    part.text.startsWith('Stop here, and do not continue the work.')
  );
}

/** The input of a request without the context: the messages, calls and outputs in order. */
export function conversation({ input }: ModelRequest): ResponseItem[] {
  return input.filter((item) => !isContext(item));
}

function isContext(item: ResponseItem): boolean {
  if (item.type !== 'message') return false;
  const [first] = item.content;
  const text = first !== undefined && 'text' in first ? first.text : '';
  return (
    item.role === 'developer' ||
    /^(<environment_context>|<project_skills>|# AGENTS\.md instructions)/.test(text)
  );
}

/** A text that counts as so many tokens. */
export function textOfTokens(tokens: number): string {
  return 'abc '.repeat(tokens);
}

/** The error of a provider that was reached and refused, or of one that was not (null). */
export function httpFailed(httpStatusCode: number | null): {
  httpConnectionFailed: { httpStatusCode: number | null };
} {
  return { httpConnectionFailed: { httpStatusCode } };
}

/** The items that a response completed. */
export function completedItems(events: readonly ModelEvent[]): ResponseItem[] {
  return events.filter((event) => event.type === 'itemCompleted').map(({ item }) => item);
}

/** A call that runs a command without the start files of the user's shell. */
export function commandCall(cmd: string, callId = 'call_1'): ModelEvent[] {
  return functionCall('exec_command', { cmd, login: false }, { callId });
}

/** A whole response with one message. */
export function saying(text: string): Step[] {
  return response(message(text));
}
