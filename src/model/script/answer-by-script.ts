import type {
  CutStep,
  ErrorStep,
  PlanStep,
  ReasoningStep,
} from '../../protocol/generated/model-script.ts';
import { AnswerWriter, type Pieces, type TimedEvent, words } from '../embedded/answer-writer.ts';
import { retryingError } from '../http/retrying-error.ts';
import type { ModelRequest } from '../model.ts';
import { failedEvent } from '../model-failure.ts';
import type { ScriptedResponse, ScriptedStep } from './read-script.ts';
import { scriptedFailure } from './scripted-failure.ts';

export interface ScriptAnswerDeps {
  /**
   * Takes the next response, which is then used up; or returns a string that says why there is
   * none.
   */
  take(): ScriptedResponse | string;
  /** Unix milliseconds. */
  now(): number;
}

/**
 * All events for a request, with retries and waits. Takes the response when the first event is
 * read.
 */
export function* answerByScript(
  request: ModelRequest,
  { take, now }: ScriptAnswerDeps,
): Generator<TimedEvent, void, undefined> {
  const writer = new AnswerWriter(request);
  for (let retries = 1; ; retries++) {
    const response = take();
    yield { type: 'started' };
    if (typeof response === 'string') {
      yield {
        type: 'failed',
        error: { message: response, codexErrorInfo: 'other', additionalDetails: null },
      };
      return;
    }
    const failure = yield* attempt(response.steps, writer);
    if (failure === null) {
      yield {
        type: 'completed',
        usage: response.usage === 'estimate' ? writer.usage() : response.usage,
      };
      return;
    }
    const delayMs = retryDelay(failure);
    const made = scriptedFailure(failure, now());
    if (delayMs === null) {
      yield failedEvent(made);
      return;
    }
    const { error } = made;
    const details = error.additionalDetails ?? `Retry ${retries}, in ${delayMs / 1000} s.`;
    yield { type: 'retrying', error: retryingError(error, details), delayMs };
    yield { waitMs: delayMs };
  }
}

type FailingStep = ErrorStep | CutStep;

/** Yields the events of the steps. Returns the step that fails, or null. */
function* attempt(
  steps: ScriptedStep[],
  writer: AnswerWriter,
): Generator<TimedEvent, FailingStep | null, undefined> {
  for (const step of steps) {
    if ('error' in step || 'cut' in step) return step;
    yield* stepEvents(step, writer);
  }
  return null;
}

function* stepEvents(
  step: Exclude<ScriptedStep, FailingStep>,
  writer: AnswerWriter,
): Generator<TimedEvent, void, undefined> {
  if ('message' in step) {
    const { message, chunk, delay = 0, phase = null } = step;
    yield* writer.message(Array.isArray(message) ? message : pieces(message, chunk), {
      delayMs: delay,
      phase,
    });
  } else if ('reasoning' in step) yield* reasoning(step, writer);
  else if ('plan' in step)
    yield* writer.call({ name: 'update_plan', arguments: planArguments(step) });
  else if ('input' in step) yield* writer.call({ name: step.call, input: step.input }, step.id);
  else if ('call' in step)
    yield* writer.call({ name: step.call, arguments: argumentsJson(step.arguments) }, step.id);
  else if ('item' in step) yield { type: 'itemCompleted', item: step.item };
  else if ('wait' in step) yield { waitMs: step.wait };
  else yield { waitMs: Number.POSITIVE_INFINITY };
}

function* reasoning(
  { reasoning, chunk, delay = 0 }: ReasoningStep,
  writer: AnswerWriter,
): Generator<TimedEvent, void, undefined> {
  const { summary = [], raw = [] } =
    typeof reasoning === 'object' && !Array.isArray(reasoning) ? reasoning : { summary: reasoning };
  const parts = (texts: string | string[]) => [texts].flat().map((text) => pieces(text, chunk));
  yield* writer.reasoning({ summary: parts(summary), raw: parts(raw), delayMs: delay });
}

function planArguments({ plan, explanation }: PlanStep): string {
  const steps = Object.entries(plan).map(([step, status]) => ({ step, status }));
  return JSON.stringify({ ...(explanation !== undefined && { explanation }), plan: steps });
}

function argumentsJson(given: Record<string, unknown> | string = {}): string {
  return typeof given === 'string' ? given : JSON.stringify(given);
}

/** Splits a text into its deltas, and never inside a character. */
function pieces(text: string, chunk: number | 'word' | 'all' = 'word'): Pieces {
  if (chunk === 'word') return words(text);
  return chunk === 'all' ? [text] : chunks(text, chunk);
}

function* chunks(text: string, size: number): Generator<string, void, undefined> {
  let chunk = '';
  let characters = 0;
  for (const character of text) {
    chunk += character;
    characters += 1;
    if (characters % size !== 0) continue;
    yield chunk;
    chunk = '';
  }
  if (chunk !== '') yield chunk;
}

/** Returns null if the failure is final. */
function retryDelay({ retry = false }: FailingStep): number | null {
  if (retry === false) return null;
  return retry === true ? 0 : retry;
}
