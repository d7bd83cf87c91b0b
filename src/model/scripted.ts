import { setImmediate } from 'node:timers/promises';
import { type Clock, sleep } from '../base/clock.ts';
import { cutText } from '../base/cut-text.ts';
import type { ResponseItem, TokenUsageBreakdown } from '../protocol/generated/types.ts';
import type { Model, ModelEvent, ModelRequest } from './model.ts';
import { streamFailure } from './provider-error.ts';
import { readConversation, type ScriptedConversation } from './scripted-conversation.ts';
import { readScriptedSteps, type ScriptedStep } from './scripted-steps.ts';

const LABEL = 'The scripted model';
const QUOTED_CHARS_MAX = 400;
const BYTES_PER_TOKEN = 4;
/** How many events are given in one go before other work gets its turn. */
const EVENTS_AT_ONCE_MAX = 32;

/**
 * The embedded model: offline, and the same input always gets the same events. It does what the lines of the last user
 * message ask for; docs/scripted-model.md is its manual.
 */
export function createScriptedModel({ clock }: { clock: Clock }): Model {
  return { stream: (request, signal) => stream(request, clock, signal) };
}

async function* stream(request: ModelRequest, clock: Clock, signal: AbortSignal): AsyncGenerator<ModelEvent, void, undefined> {
  let given = 0;
  for (const step of answer(request)) {
    if (given++ % EVENTS_AT_ONCE_MAX === 0) await setImmediate();
    if ('waitMs' in step) await sleep(clock, step.waitMs, signal);
    if (signal.aborted) return;
    if (!('waitMs' in step)) yield step;
  }
}

type Paced = ModelEvent | { waitMs: number };

/** The whole answer to a request, waits included. */
function* answer(request: ModelRequest): Generator<Paced, void, undefined> {
  const conversation = readConversation(request.input);
  const writer = new AnswerWriter(request.input.length);
  yield { type: 'started' };
  const steps = stepsOfThisResponse(readScriptedSteps(conversation.userText), conversation.calls.length);
  for (const step of steps) {
    if (step.do === 'fail') {
      yield {
        type: 'failed',
        error: streamFailure({ label: LABEL, secrets: [] }, { code: step.code, message: `asked to fail with ${step.code}` }).error,
      };
      return;
    }
    yield* writer.step(step);
  }
  if (!steps.some((step) => step.do === 'say' || step.do === 'repeat' || step.do === 'call')) yield* closing(writer, conversation, steps);
  yield { type: 'completed', usage: usage(request, writer) };
}

/** Steps are done in order; a response ends with a run of calls, and the next one goes on behind it. */
function stepsOfThisResponse(steps: ScriptedStep[], callsMade: number): ScriptedStep[] {
  let calls = 0;
  const start = callsMade === 0 ? 0 : steps.findIndex((step) => step.do === 'call' && ++calls === callsMade) + 1;
  const rest = callsMade > 0 && start === 0 ? [] : steps.slice(start);
  const end = rest.findIndex((step, index) => step.do === 'call' && rest[index + 1]?.do !== 'call');
  return end === -1 ? rest : rest.slice(0, end + 1);
}

/** A response always has something to read. */
function* closing(
  writer: AnswerWriter,
  { userText, calls }: ScriptedConversation,
  steps: ScriptedStep[],
): Generator<ModelEvent, void, undefined> {
  if (calls.length > 0) {
    yield* writer.message(words(calls.map(({ name, output }) => `${name} answered: ${quoted(output ?? 'nothing')}`).join('\n\n')));
    return;
  }
  if (!steps.some((step) => step.do === 'think'))
    yield* writer.reasoning(words('**Reading the message** I look for lines that ask me for something.'));
  yield* writer.message(words(introduction(userText)));
}

function introduction(userText: string): string {
  return [
    'I am the built-in scripted model: I work offline and follow a script.',
    userText === '' ? '' : `You wrote: ${quoted(userText)}`,
    'Ask me for more, one request a line: `call NAME {"json": "arguments"}`, `say TEXT`, `think TEXT`, `repeat N WORD`, `wait MS`, `fail CODE`. For a real model, set model_provider in config.toml.',
  ]
    .filter((paragraph) => paragraph !== '')
    .join('\n\n');
}

/** Makes the events of items, with ids that follow from the input alone, and counts what it wrote. */
class AnswerWriter {
  readonly #inputLength: number;
  #items = 0;
  textBytes = 0;
  reasoningBytes = 0;

  constructor(inputLength: number) {
    this.#inputLength = inputLength;
  }

  *step(step: Exclude<ScriptedStep, { do: 'fail' }>): Generator<Paced, void, undefined> {
    switch (step.do) {
      case 'say':
        return yield* this.message(words(step.text));
      case 'repeat':
        return yield* this.message(repeated(step.word, step.times));
      case 'think':
        return yield* this.reasoning(words(step.text));
      case 'wait':
        return yield { waitMs: step.ms };
      case 'call':
        return yield this.#call(step.name, step.arguments);
      default:
        return step satisfies never;
    }
  }

  *message(deltas: Iterable<string>): Generator<ModelEvent, void, undefined> {
    const itemId = this.#nextId('msg');
    const item = (content: { type: 'output_text'; text: string }[]) => ({
      type: 'message' as const,
      id: itemId,
      role: 'assistant',
      content,
    });
    yield { type: 'itemStarted', item: item([]) };
    let text = '';
    for (const delta of deltas) {
      text += delta;
      yield { type: 'textDelta', itemId, delta };
    }
    this.textBytes += Buffer.byteLength(text);
    yield { type: 'itemCompleted', item: item([{ type: 'output_text', text }]) };
  }

  *reasoning(deltas: string[]): Generator<ModelEvent, void, undefined> {
    const itemId = this.#nextId('rs');
    const text = deltas.join('');
    this.reasoningBytes += Buffer.byteLength(text);
    yield { type: 'itemStarted', item: { type: 'reasoning', id: itemId, summary: [] } };
    yield { type: 'reasoningSummaryPart', itemId, index: 0 };
    for (const delta of deltas) yield { type: 'reasoningSummaryDelta', itemId, index: 0, delta };
    yield { type: 'itemCompleted', item: { type: 'reasoning', id: itemId, summary: [{ type: 'summary_text', text }] } };
  }

  #call(name: string, args: string): ModelEvent {
    this.textBytes += Buffer.byteLength(args);
    const id = this.#nextId('fc');
    const item: ResponseItem = { type: 'function_call', id, call_id: `call_${id}`, name, arguments: args };
    return { type: 'itemCompleted', item };
  }

  #nextId(prefix: string): string {
    return `${prefix}_${this.#inputLength}_${++this.#items}`;
  }
}

function usage(request: ModelRequest, writer: AnswerWriter): TokenUsageBreakdown {
  const inputTokens = tokens(Buffer.byteLength(JSON.stringify([request.instructions, request.input, request.tools])));
  const reasoningOutputTokens = tokens(writer.reasoningBytes);
  const outputTokens = tokens(writer.textBytes) + reasoningOutputTokens;
  return {
    inputTokens,
    cachedInputTokens: 0,
    cacheWriteInputTokens: 0,
    outputTokens,
    reasoningOutputTokens,
    totalTokens: inputTokens + outputTokens,
  };
}

function tokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

/** A text cut before each word's leading space, so that the pieces make the text again. */
function words(text: string): string[] {
  return text.match(/\s*\S+|\s+$/g) ?? [];
}

function* repeated(word: string, times: number): Generator<string, void, undefined> {
  for (let index = 0; index < times; index++) yield `${word} `;
}

function quoted(text: string): string {
  const characters = text.length > QUOTED_CHARS_MAX ? `${cutText(text, QUOTED_CHARS_MAX)}…` : text;
  return `"${characters}"`;
}
