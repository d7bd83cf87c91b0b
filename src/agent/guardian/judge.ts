import type { Clock } from '../../base/clock.ts';
import type { Env } from '../../base/env.ts';
import type { JsonObject } from '../../base/json-value.ts';
import { orAborted } from '../../base/or-aborted.ts';
import type { Config } from '../../config/config.ts';
import { ConfigError } from '../../config/config-error.ts';
import { chooseModel, chooseProvider } from '../../config/providers/choose-provider.ts';
import type { ProviderConfig } from '../../config/providers/provider-config.ts';
import type { Model, ModelRequest } from '../../model/model.ts';
import type { GuardianApprovalReview, ResponseItem } from '../../protocol/generated/types.ts';
import { inertRedactor } from '../../secrets/inert-redactor.ts';
import { jsonRedactor } from '../../secrets/json-redactor.ts';
import type { ThreadSettings } from '../../store/thread-store.ts';
import { type AsideAnswer, askAside } from '../aside/ask-aside.ts';
import type { TurnContext } from '../turn/turn-part.ts';
import { type Assessment, readAssessment } from './assessment.ts';
import { REPAIR_MESSAGE, reviewRequest } from './review-request.ts';
import { type SecretMasks, transcript, visibleJson } from './transcript.ts';

/** How often the model is asked until its answer can be read. */
const ATTEMPTS_MAX = 2;
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
  /** The server's own environment. Its secrets are hidden from the model. */
  env: Env;
  config(): Config;
  /** The model of the thread's own provider. */
  ownModel(): Model;
  modelFor(provider: ProviderConfig): Promise<Model>;
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
      tools: [],
    });
    return this.#ask(request, { model, timeoutMs }, signal);
  }

  /** Asks until the answer can be read. One deadline counts for all attempts, from the moment that the first request is sent. */
  async #ask(request: ModelRequest, { model, timeoutMs }: Pick<ChosenModel, 'model' | 'timeoutMs'>, signal: AbortSignal): Promise<Judged> {
    const timeout = new AbortController();
    const timer = this.#deps.clock.setTimer(() => timeout.abort(), timeoutMs);
    const either = AbortSignal.any([signal, timeout.signal]);
    try {
      let input = request.input;
      for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        const answer = await asked(model, { ...request, input }, either);
        if (signal.aborted) return ABORTED;
        if (timeout.signal.aborted) return { ...failure(`It did not end within ${timeoutMs / 1000} seconds.`), status: 'timedOut' };
        if ('error' in answer) return failure(answer.error?.message ?? 'The model gave no answer.');
        const assessment = readAssessment(answer.text);
        if (assessment !== null) return judgedBy(assessment);
        input = [...input, ...answer.items.filter(({ type }) => type === 'message'), REPAIR_MESSAGE];
      }
      return failure('The model gave no answer that can be read.');
    } finally {
      timer.clear();
    }
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

const ABORTED: Judged = { status: 'aborted', riskLevel: null, userAuthorization: null, rationale: null, hasFailed: true };

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
