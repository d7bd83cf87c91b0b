import { EventLoopYield } from '../../base/event-loop-yield.ts';
import { isObject, type JsonObject, parsedJson } from '../../base/json-value.ts';
import type { HookHandler } from '../../config/hooks/hook-definition.ts';
import type { HookEvent } from '../../config/hooks/hook-events.ts';
import { entry, failedHook, type HookResult } from '../../hooks/hook-result.ts';
import { refused } from '../../hooks/read-output.ts';
import { contextMessage } from '../../instructions/context-message.ts';
import { HOOK_ANSWER_SCHEMA, HOOK_INSTRUCTIONS } from '../../instructions/hook-instructions.ts';
import { inertRedactor, jsonRedactor, settingsRedactor } from '../../secrets/json-redactor.ts';
import { READ_FILE } from '../../tools/read-file.ts';
import { GuardianAnswers } from '../guardian/guardian-answers.ts';
import type { TurnContext, TurnPartDeps } from '../turn/turn-part.ts';

/** The place of the event in a prompt. Without it, the event follows the prompt. */
const PLACE = '$ARGUMENTS';
/** The longest event that is put to a model, and the most of all files that it reads, in characters. */
const EVENT_CHARS_MAX = 100_000;
const FILES_CHARS_MAX = 256_000;

type ModelHandler = Extract<HookHandler, { type: 'prompt' | 'agent' }>;

interface ModelHook {
  event: HookEvent;
  handler: ModelHandler;
  input: JsonObject;
  turn: TurnContext;
}

/** Asks a model aside whether the condition of a hook is met. An `agent` may read files before it answers. Rejects only with the store's error. */
export async function runModelHook(
  { event, handler, input, turn }: ModelHook,
  deps: TurnPartDeps,
  signal: AbortSignal,
): Promise<HookResult> {
  const json = JSON.stringify(input);
  if (json.length > EVENT_CHARS_MAX)
    return failedHook(`the event has more than ${EVENT_CHARS_MAX} characters, which is too long for a model`);
  const { settings } = turn;
  const configuration = deps.configuration();
  const request = {
    model: handler.model ?? settings.model,
    instructions: HOOK_INSTRUCTIONS,
    input: [contextMessage('user', [withEvent(handler.prompt, json)])],
    tools: handler.type === 'agent' ? [READ_FILE] : [],
    effort: handler.model === null ? settings.effort : null,
    summary: null,
    outputSchema: HOOK_ANSWER_SCHEMA,
    schemaIsOptional: true as const,
    serviceTier: settings.serviceTier,
    verbosity: configuration.verbosity,
    promptCacheKey: `${deps.threadId}-hooks`,
  };
  const reading = { turn, signal, cwd: settings.cwd, filesChars: FILES_CHARS_MAX };
  const { answer } = await answers(deps).answer(configuration.model, request, reading);
  if (!('text' in answer)) return failedHook(answer.error?.message ?? 'the model gave no answer');
  return judged(event, answer.text);
}

/** The prompt with the event in its place, or behind it. */
function withEvent(prompt: string, json: string): string {
  return prompt.includes(PLACE) ? prompt.replaceAll(PLACE, () => json) : `${prompt}\n\nThe event:\n${json}`;
}

function answers(deps: TurnPartDeps): GuardianAnswers {
  const { home, env, outbox } = deps;
  return new GuardianAnswers({
    home,
    env,
    breaks: new EventLoopYield(),
    mask: () => {
      const data = jsonRedactor(env);
      return { data: (text) => String(data(text)), code: inertRedactor(env), settings: settingsRedactor(env) };
    },
    onUsage: (turn, usage) => outbox.commit(deps.tokensStep(turn, usage)),
  });
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
