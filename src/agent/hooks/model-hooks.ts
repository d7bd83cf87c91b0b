import type { EventLoopYield } from '../../base/event-loop-yield.ts';
import type { JsonText } from '../../base/json-text.ts';
import { isObject, parsedJson } from '../../base/json-value.ts';
import type { HookHandler } from '../../config/hooks/hook-definition.ts';
import type { HookEvent } from '../../config/hooks/hook-events.ts';
import { entry, failedHook, type HookResult } from '../../hooks/hook-result.ts';
import { refused } from '../../hooks/read-output.ts';
import { contextMessage } from '../../instructions/context-message.ts';
import { HOOK_ANSWER_SCHEMA, HOOK_INSTRUCTIONS } from '../../instructions/hook-instructions.ts';
import { inertRedactor, jsonRedactor, settingsRedactor } from '../../secrets/json-redactor.ts';
import { READ_FILE } from '../../tools/read-file.ts';
import { JudgeAnswers } from '../aside/judge-answers.ts';
import type { TurnContext, TurnPartDeps } from '../turn/turn-part.ts';

/** The place of the event in a prompt. Without it, the event follows the prompt. */
const PLACE = '$ARGUMENTS';
/** The longest event that is put to a model, in bytes of its JSON. */
const EVENT_BYTES_MAX = 100_000;
/** The most of all files that it reads, in characters. */
const FILES_CHARS_MAX = 256_000;

type ModelHandler = Extract<HookHandler, { type: 'prompt' | 'agent' }>;

interface ModelHook {
  event: HookEvent;
  handler: ModelHandler;
  /** The JSON of the event. */
  input: JsonText;
  turn: TurnContext;
}

/** Asks a model aside whether the condition of a hook is met. An `agent` may read files before it answers. */
export class ModelHooks {
  readonly #deps: TurnPartDeps;
  readonly #answers: JudgeAnswers;

  constructor(deps: TurnPartDeps, breaks: EventLoopYield) {
    const { home, env, outbox } = deps;
    this.#deps = deps;
    this.#answers = new JudgeAnswers({
      home,
      env,
      breaks,
      mask: () => {
        const data = jsonRedactor(env);
        return { data: (text) => String(data(text)), code: inertRedactor(env), settings: settingsRedactor(env) };
      },
      onUsage: (turn, usage) => outbox.commit(deps.tokensStep(turn, usage)),
    });
  }

  /** Rejects only with the store's error. */
  async run({ event, handler, input, turn }: ModelHook, signal: AbortSignal): Promise<HookResult> {
    if (input.length > EVENT_BYTES_MAX) return tooLong(event);
    const { threadId, configuration } = this.#deps;
    const { model, verbosity } = configuration();
    const { settings } = turn;
    const request = {
      model: handler.model ?? settings.model,
      instructions: HOOK_INSTRUCTIONS,
      input: [contextMessage('user', [withEvent(handler.prompt, input.toString())])],
      tools: handler.type === 'agent' ? [READ_FILE] : [],
      effort: handler.model === null ? settings.effort : null,
      summary: null,
      outputSchema: HOOK_ANSWER_SCHEMA,
      schemaIsOptional: true as const,
      serviceTier: settings.serviceTier,
      verbosity,
      promptCacheKey: `${threadId}-hooks`,
    };
    const reading = { turn, signal, cwd: settings.cwd, filesChars: FILES_CHARS_MAX };
    const { answer } = await this.#answers.answer(model, request, reading);
    if (!('text' in answer)) return failedHook(answer.error?.message ?? 'the model gave no answer');
    return judged(event, answer.text);
  }
}

/** The model decides how long its calls are, so one that is too long to be checked is refused, as long as that can be done. */
function tooLong(event: HookEvent): HookResult {
  const why = `It has more than ${EVENT_BYTES_MAX} bytes, which is too long for the model that has to check it.`;
  return event.refuses && !event.needsReason ? refused(event, `${why} Shorten it.`) : failedHook(why);
}

/** The prompt with the event in its place, or behind it. */
function withEvent(prompt: string, json: string): string {
  return prompt.includes(PLACE) ? prompt.replaceAll(PLACE, () => json) : `${prompt}\n\nThe event:\n${json}`;
}

/** A condition that is not met refuses; where nothing can be refused, it stops the work or is told to the user. */
function judged(event: HookEvent, text: string): HookResult {
  const answer = parsedJson(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
  if (!isObject(answer) || typeof answer.ok !== 'boolean') return failedHook('the answer of the model cannot be read');
  if (answer.ok) return { status: 'completed', entries: [], effect: {} };
  const reason =
    typeof answer.reason === 'string' && answer.reason.trim() !== '' ? answer.reason.trim() : 'The condition of a hook is not met.';
  if (event.refuses) return refused(event, reason);
  if (event.canStop) return { status: 'stopped', entries: [entry('stop', reason)], effect: { stop: reason } };
  return { status: 'completed', entries: [entry('warning', reason)], effect: {} };
}
