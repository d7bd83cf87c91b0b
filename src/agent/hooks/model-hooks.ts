import type { EventLoopYield } from '../../base/event-loop-yield.ts';
import type { JsonText } from '../../base/text/json-text.ts';
import type { HookHandler } from '../../config/hooks/hook-definition.ts';
import type { HookEvent } from '../../config/hooks/hook-events.ts';
import { entry, failedHook, type HookResult } from '../../hooks/hook-result.ts';
import { notMet } from '../../hooks/read-output.ts';
import { HOOK_ANSWER_SCHEMA, HOOK_INSTRUCTIONS } from '../../instructions/hook-instructions.ts';
import { contextMessage } from '../../instructions/messages/context-message.ts';
import { decisionMask } from '../../secrets/decision-mask.ts';
import { LOOKS_MAX, lookTools } from '../../tools/look-command.ts';
import { JudgeAnswers } from '../aside/judge-answers.ts';
import { readVerdict } from '../aside/read-verdict.ts';
import type { ThreadContext } from '../thread-context.ts';
import type { TurnContext } from '../turn/turn-part.ts';

/** The place of the event in a prompt. Without it, the event follows the prompt. */
const PLACE = '$ARGUMENTS';
/** The longest event that is put to a model, in bytes of its JSON. */
const EVENT_BYTES_MAX = 100_000;
const TOO_LONG = `It has more than ${EVENT_BYTES_MAX} bytes, which is too long for the model that has to check it.`;
/** The most of all files and outputs that it reads, in characters. */
const FILES_CHARS_MAX = 256_000;

type ModelHandler = Extract<HookHandler, { type: 'prompt' | 'agent' }>;

interface ModelHook {
  event: HookEvent;
  handler: ModelHandler;
  /** The JSON of the event. */
  input: JsonText;
  turn: TurnContext;
}

/**
 * Asks a model aside whether the condition of a hook is met. An `agent` may read files and run
 * commands that only look before it answers. Whatever fails is a failed hook.
 */
export class ModelHooks {
  readonly #thread: ThreadContext;
  readonly #answers: JudgeAnswers;

  constructor(thread: ThreadContext, breaks: EventLoopYield) {
    const { id: threadId, outbox, usage } = thread;
    const { clock } = thread.services.runtime;
    const { processes, sandbox, home, env } = thread.services.machine;
    this.#thread = thread;
    this.#answers = new JudgeAnswers({
      threadId,
      clock,
      processes,
      sandbox,
      home,
      env,
      breaks,
      mask: () => decisionMask(env),
      onUsage: (turn, used) => outbox.commit(usage.aside(turn, used)),
    });
  }

  /** Rejects only with the store's error. */
  async run({ event, handler, input, turn }: ModelHook, signal: AbortSignal): Promise<HookResult> {
    if (input.length > EVENT_BYTES_MAX) return failedHook(TOO_LONG);
    const { id: threadId, state, services } = this.#thread;
    const { model, responses } = state.configuration;
    const { settings } = turn;
    const request = {
      model: handler.model ?? settings.model,
      instructions: HOOK_INSTRUCTIONS,
      input: [contextMessage('user', [withEvent(handler.prompt, input.toString())])],
      tools:
        handler.type === 'agent'
          ? await lookTools({ ...services.runtime, ...services.machine })
          : [],
      effort: handler.model === null ? settings.effort : null,
      summary: null,
      outputSchema: HOOK_ANSWER_SCHEMA,
      schemaIsOptional: true as const,
      serviceTier: settings.serviceTier,
      verbosity: responses.verbosity,
      promptCacheKey: `${threadId}-hooks`,
    };
    const reading = {
      turn,
      signal,
      cwd: settings.cwd,
      filesChars: FILES_CHARS_MAX,
      looks: { left: LOOKS_MAX },
    };
    const answer = await this.#answers.verdict(model, request, CONDITION, reading);
    if ('error' in answer) return failedHook(answer.error.message);
    const { verdict, deciding } = answer;
    return verdict.ok && deciding > 0 ? unseen(event) : judged(event, verdict);
  }
}

/** The prompt with the event in its place, or behind it. */
function withEvent(prompt: string, json: string): string {
  return prompt.includes(PLACE)
    ? prompt.replaceAll(PLACE, () => json)
    : `${prompt}\n\nThe event:\n${json}`;
}

/** The answer about a condition. */
interface Condition {
  ok: boolean;
  reason?: string | null;
}

const CONDITION = {
  keys: HOOK_ANSWER_SCHEMA.required,
  read: (text: string) => readVerdict(text, HOOK_ANSWER_SCHEMA, ['ok']) as Condition | null,
};

const UNSEEN =
  'A hook could not check this: its decision may depend on a secret that is hidden in a file or an output.';

/**
 * The model did not see what may decide: the user decides about a call, and everything else counts
 * as not checked.
 */
function unseen(event: HookEvent): HookResult {
  if (event.name !== 'preToolUse') return failedHook(UNSEEN);
  return { status: 'completed', entries: [entry('warning', UNSEEN)], effect: { ask: UNSEEN } };
}

function judged(event: HookEvent, { ok, reason }: Condition): HookResult {
  return ok
    ? { status: 'completed', entries: [], effect: {} }
    : notMet(event, reason?.trim() || 'The condition of a hook is not met.');
}
