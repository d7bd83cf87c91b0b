import type { Clock } from '../../base/clock.ts';
import type { Env } from '../../base/env.ts';
import type { JsonObject } from '../../base/json-value.ts';
import { orAborted } from '../../base/or-aborted.ts';
import type { Config } from '../../config/config.ts';
import { ConfigError } from '../../config/config-error.ts';
import { chooseModel, chooseProvider } from '../../config/providers/choose-provider.ts';
import type { ProviderConfig } from '../../config/providers/provider-config.ts';
import type { Model, ModelRequest } from '../../model/model.ts';
import type { GuardianApprovalReview, ResponseItem, TokenUsageBreakdown } from '../../protocol/generated/types.ts';
import { inertRedactor } from '../../secrets/inert-redactor.ts';
import { jsonRedactor } from '../../secrets/json-redactor.ts';
import type { ThreadSettings } from '../../store/thread-store.ts';
import { READ_FILE, readFileText } from '../../tools/read-file.ts';
import { type AsideAnswer, askAside } from '../aside/ask-aside.ts';
import type { TurnContext } from '../turn/turn-part.ts';
import { type Assessment, readAssessment } from './assessment.ts';
import { REPAIR_MESSAGE, reviewRequest } from './review-request.ts';
import { type SecretMasks, transcript, visibleJson } from './transcript.ts';

/** How often the model is asked until its answer can be read. */
const ATTEMPTS_MAX = 2;
/** How often the model may read files before it must answer. */
const READINGS_MAX = 4;
/** The most files that it reads at once. */
const FILES_MAX = 8;
/** The longest action that is put to the model, in characters of its JSON. */
const PLANNED_CHARS_MAX = 200_000;

/** The end of a review. `hasFailed`: there was no assessment, and the rationale says why. */
export interface Judged extends GuardianApprovalReview {
  status: 'approved' | 'denied' | 'timedOut' | 'aborted';
  hasFailed: boolean;
}

export interface JudgeDeps {
  threadId: string;
  clock: Clock;
  /** Absolute: heddle's home. */
  home: string;
  /** The server's own environment. Its secrets are hidden from the model. */
  env: Env;
  config(): Config;
  /** The model of the thread's own provider. */
  ownModel(): Model;
  modelFor(provider: ProviderConfig): Promise<Model>;
  /** Takes the tokens that a request has used. Rejects with the store's error. */
  onUsage(turn: TurnContext, usage: TokenUsageBreakdown): Promise<void>;
  /** The history of the thread as its model reads it. Null: it is too large. */
  history(): Promise<readonly ResponseItem[] | null>;
}

/** The model for a review, and its settings. */
interface ChosenModel {
  model: Model;
  name: string;
  effort: string | null;
  /** Further policy. Null: none. */
  policy: string | null;
  timeoutMs: number;
}

/** Asks the guardian model for its assessment of one action. */
export class Judge {
  readonly #deps: JudgeDeps;
  #masks: (SecretMasks & { planned: (value: JsonObject) => JsonObject }) | null = null;

  constructor(deps: JudgeDeps) {
    this.#deps = deps;
  }

  /** Never rejects, except with the store's error: whatever goes wrong is a denial. */
  async judge(planned: JsonObject, turn: TurnContext): Promise<Judged> {
    const { signal } = turn;
    if (signal.aborted) return ABORTED;
    const history = await orAborted(this.#deps.history(), signal);
    if (signal.aborted) return ABORTED;
    if (history === null) return failure('The conversation is too large to be reviewed.');
    const masked = this.#mask().planned(planned);
    if (visibleJson(masked).length > PLANNED_CHARS_MAX) return failure('The action is too long to be reviewed.');
    const chosen = await this.#chooseModel(turn.settings);
    if ('problem' in chosen) return failure(chosen.problem);
    const { model, timeoutMs, ...rest } = chosen;
    const request = reviewRequest({
      ...rest,
      threadId: this.#deps.threadId,
      serviceTier: turn.settings.serviceTier,
      transcript: transcript(history, this.#mask()),
      planned: masked,
      tools: [READ_FILE],
    });
    return this.#ask(request, { model, timeoutMs }, turn);
  }

  /** Asks until the answer can be read. One deadline counts for all attempts, from the moment that the first request is sent. */
  async #ask(request: ModelRequest, { model, timeoutMs }: Pick<ChosenModel, 'model' | 'timeoutMs'>, turn: TurnContext): Promise<Judged> {
    const timeout = new AbortController();
    const timer = this.#deps.clock.setTimer(() => timeout.abort(), timeoutMs);
    const signal = AbortSignal.any([turn.signal, timeout.signal]);
    try {
      let next = request;
      for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        const { answer, input } = await this.#answer(model, next, { turn, signal });
        if (turn.signal.aborted) return ABORTED;
        if (timeout.signal.aborted) return { ...failure(`It did not end within ${timeoutMs / 1000} seconds.`), status: 'timedOut' };
        if (!('text' in answer)) return failure(answer.error?.message ?? 'The model gave no answer.');
        const assessment = readAssessment(answer.text);
        if (assessment !== null) return judgedBy(assessment);
        const said = answer.items.filter(({ type }) => type === 'message');
        next = { ...request, tools: [], input: [...input, ...said, REPAIR_MESSAGE] };
      }
      return failure('The model gave no answer that can be read.');
    } finally {
      timer.clear();
    }
  }

  /** Asks the model, and lets it read files until it answers. Returns the answer, and the input of its request. */
  async #answer(
    model: Model,
    request: ModelRequest,
    { turn, signal }: { turn: TurnContext; signal: AbortSignal },
  ): Promise<{ answer: AsideAnswer; input: ResponseItem[] }> {
    let { input } = request;
    for (let readings = 0; ; readings++) {
      const mayRead = readings < READINGS_MAX;
      const answer = await asked(model, { ...request, input, tools: mayRead ? request.tools : [] }, signal);
      if ('items' in answer && answer.usage !== null) await this.#deps.onUsage(turn, answer.usage);
      const calls = mayRead && 'items' in answer ? readingsOf(answer.items) : [];
      if (!('items' in answer) || calls.length === 0 || signal.aborted) return { answer, input };
      input = [...input, ...asInput(answer.items, calls), ...(await this.#outputs(calls, turn.settings))];
    }
  }

  /** The files that the model wants to read, without secrets. */
  #outputs(calls: readonly FunctionCall[], settings: ThreadSettings): Promise<ResponseItem[]> {
    const { home, env } = this.#deps;
    return Promise.all(
      calls.map(async ({ call_id, arguments: args }) => {
        const text = this.#mask().code(await readFileText(args, { home, env, settings }));
        return { type: 'function_call_output' as const, call_id, output: text };
      }),
    );
  }

  /** The configured model, by default the thread's own. A setting that is not valid is a problem. */
  async #chooseModel(settings: ThreadSettings): Promise<ChosenModel | { problem: string }> {
    const config = this.#deps.config();
    try {
      const providerId = config.get('auto_review.model_provider') ?? settings.modelProvider;
      const name = config.get('auto_review.model');
      const effort = config.get('auto_review.model_reasoning_effort');
      const limits = { policy: config.get('auto_review.policy'), timeoutMs: config.get('auto_review.timeout_ms') };
      if (providerId === settings.modelProvider) {
        const isOwn = (name ?? settings.model) === settings.model;
        return {
          ...limits,
          model: this.#deps.ownModel(),
          name: name ?? settings.model,
          effort: effort ?? (isOwn ? settings.effort : null),
        };
      }
      const { provider } = chooseProvider(config, providerId);
      return { ...limits, model: await this.#deps.modelFor(provider), name: chooseModel(config, provider, name), effort };
    } catch (error) {
      if (error instanceof ConfigError) return { problem: error.message };
      throw error;
    }
  }

  #mask() {
    if (this.#masks === null) {
      const data = jsonRedactor(this.#deps.env);
      const code = inertRedactor(this.#deps.env);
      this.#masks = { data: (text) => String(data(text)), code, planned: code };
    }
    return this.#masks;
  }
}

type FunctionCall = Extract<ResponseItem, { type: 'function_call' }>;

/** The calls of an answer that are performed. */
function readingsOf(items: readonly ResponseItem[]): FunctionCall[] {
  return items.filter((item) => item.type === 'function_call').slice(0, FILES_MAX);
}

/** The items of an answer for the next request: without calls that are not performed. */
function asInput(items: readonly ResponseItem[], calls: readonly FunctionCall[]): ResponseItem[] {
  return items.filter((item) => item.type === 'reasoning' || item.type === 'message' || calls.some((call) => call === item));
}

export const ABORTED: Judged = { status: 'aborted', riskLevel: null, userAuthorization: null, rationale: null, hasFailed: true };

function failure(why: string): Judged {
  return { status: 'denied', riskLevel: null, userAuthorization: null, rationale: `The automatic review failed. ${why}`, hasFailed: true };
}

function judgedBy({ outcome, ...assessment }: Assessment): Judged {
  return { status: outcome === 'allow' ? 'approved' : 'denied', ...assessment, hasFailed: false };
}

/** A model that throws has failed. */
async function asked(model: Model, request: ModelRequest, signal: AbortSignal): Promise<AsideAnswer> {
  try {
    return await askAside(model, request, signal);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { error: { message, codexErrorInfo: 'other', additionalDetails: null } };
  }
}
