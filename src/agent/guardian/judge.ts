import { EventLoopYield } from '../../base/event-loop-yield.ts';
import type { JsonObject } from '../../base/json-value.ts';
import { orAborted } from '../../base/or-aborted.ts';
import { CAUTIOUS_CHARS_PER_TOKEN, charsOfTokens } from '../../base/text/estimate-tokens.ts';
import { jsonWeight } from '../../base/text/json-pieces.ts';
import { visibleJson } from '../../base/text/visible-json.ts';
import type { Config } from '../../config/config.ts';
import type { ContextWindow } from '../../config/providers/context-window.ts';
import type { ProviderConfig } from '../../config/providers/provider-config.ts';
import { guardianInstructions } from '../../instructions/guardian-instructions.ts';
import type { Model, ModelRequest, ToolSpec } from '../../model/model.ts';
import type { TokenUsageBreakdown } from '../../protocol/generated/types.ts';
import { type DecisionMask, decisionMask, type Masked } from '../../secrets/decision-mask.ts';
import type { AuthoredItem } from '../../store/model-items.ts';
import { StoreError } from '../../store/store-error.ts';
import { LOOKS_MAX, type LookServices, lookTools } from '../../tools/look-command.ts';
import { JudgeAnswers, type Reading } from '../aside/judge-answers.ts';
import type { TurnContext } from '../turn/turn-part.ts';
import { ASSESSMENT_SCHEMA, readAssessment } from './assessment.ts';
import { type GuardianModel, guardianModel } from './guardian-model.ts';
import { ABORTED, failedReview, type Judged, judgedBy, whyPerson } from './judged.ts';
import { reviewRequest } from './review-request.ts';
import { type KnownLines, transcript } from './transcript.ts';

/** The longest action that is put to the model, in characters of its JSON. */
const PLANNED_CHARS_MAX = 100_000;
/** The longest transcript, and the most of all files, in characters. */
const TRANSCRIPT_CHARS_MAX = 100_000;
const FILES_CHARS_MAX = 256_000;
const ASSESSMENT = { keys: ASSESSMENT_SCHEMA.required, read: readAssessment };
/**
 * The parts of the room beside the action for the transcript and for files. The rest is for the
 * answers.
 */
const TRANSCRIPT_SHARE = 0.5;
const FILES_SHARE = 0.35;
/**
 * The transcript and the files are halved so often, if the model refuses the request as too long.
 */
const HALVINGS_MAX = 5;

/** The secrets of `env` are hidden from the model. */
export interface JudgeDeps extends LookServices {
  config(): Config;
  /** The model of the thread's own provider. */
  ownModel(): Model;
  /** The context window of a model of that provider. */
  ownWindow(model: string): ContextWindow;
  modelFor(provider: ProviderConfig): Promise<Model>;
  /**
   * Takes the tokens that a request to the model of these settings has used. Rejects with the
   * store's error.
   */
  onUsage(turn: TurnContext, usage: TokenUsageBreakdown): Promise<void>;
  /** The history of the thread as its model reads it. Null: it is too large. */
  history(): Promise<readonly AuthoredItem[] | null>;
  /** The goal that the user has set for the thread; null: none. */
  goal(): string | null;
}

/** The subject of a review, and the greatest length of the texts for the model together. */
interface Subject {
  history: readonly AuthoredItem[];
  /** The action that is planned, without secrets. */
  planned: JsonObject;
  /** How many secrets are hidden in it. */
  hidden: number;
  /** Further policy. Null: none. */
  policy: string | null;
  timeoutMs: number;
}

/** Asks the guardian model for its assessment of one action. */
export class Judge {
  readonly #deps: JudgeDeps;
  readonly #breaks = new EventLoopYield();
  readonly #known: KnownLines = new WeakMap();
  readonly #answers: JudgeAnswers;
  #madeMask: DecisionMask | null = null;

  constructor(deps: JudgeDeps) {
    this.#deps = deps;
    this.#answers = new JudgeAnswers({ ...deps, mask: () => this.#mask, breaks: this.#breaks });
  }

  /**
   * Makes the parts of a review that do not depend on its action, so that the next one does not
   * wait for them. Call it while the thread's model works. Never rejects.
   */
  async prepare(): Promise<void> {
    try {
      const history = await this.#deps.history();
      if (history !== null)
        await transcript(history, { ...this.#transcriptOptions(), charsMax: TRANSCRIPT_CHARS_MAX });
    } catch {
      // The review itself then fails with the same error, and says why.
    }
  }

  /**
   * Why a person has to judge this action: a secret that may decide would be hidden from the model.
   * Null: the model can judge it.
   */
  needsPerson(planned: JsonObject): string | null {
    const { deciding } = this.#mask(planned);
    return deciding === 0 ? null : whyPerson(deciding, 'in it');
  }

  /** Never rejects, except with the store's error: whatever goes wrong is a denial. */
  async judge(planned: JsonObject, turn: TurnContext): Promise<Judged> {
    try {
      return await this.#judge(planned, turn);
    } catch (error) {
      if (error instanceof StoreError) throw error;
      return turn.signal.aborted
        ? ABORTED
        : failedReview(error instanceof Error ? error.message : String(error));
    }
  }

  async #judge(planned: JsonObject, turn: TurnContext): Promise<Judged> {
    const { signal } = turn;
    if (signal.aborted) return ABORTED;
    if (jsonWeight(planned, PLANNED_CHARS_MAX) > PLANNED_CHARS_MAX)
      return failedReview('The action is too long to be reviewed.');
    const history = await orAborted(this.#deps.history(), signal);
    if (signal.aborted) return ABORTED;
    if (history === null) return failedReview('The conversation is too large to be reviewed.');
    const config = this.#deps.config();
    const timeoutMs = config.get('auto_review.timeout_ms');
    const subject = {
      history,
      ...shownPlan(this.#mask(planned)),
      policy: config.get('auto_review.policy'),
      timeoutMs,
    };
    const chosen = guardianModel({
      config,
      settings: turn.settings,
      ownWindow: this.#deps.ownWindow,
    });
    const model = await this.#modelOf(chosen, timeoutMs, turn);
    return 'status' in model ? model : this.#ask(subject, { ...chosen, model }, turn);
  }

  async #modelOf(
    { provider }: GuardianModel,
    timeoutMs: number,
    turn: TurnContext,
  ): Promise<Model | Judged> {
    if (provider === null) return this.#deps.ownModel();
    return this.#within(timeoutMs, turn, (signal) =>
      orAborted(this.#deps.modelFor(provider), signal),
    );
  }

  /** Asks with as much of the conversation as the model can read. */
  async #ask(
    subject: Subject,
    chosen: GuardianModel & { model: Model },
    turn: TurnContext,
  ): Promise<Judged> {
    const { planned, policy, timeoutMs } = subject;
    const fixed = visibleJson(planned).length + guardianInstructions(policy).length;
    const room = charsOfTokens(chosen.window.tokens, CAUTIOUS_CHARS_PER_TOKEN) - fixed;
    if (room < fixed / 4)
      return failedReview(`The action is too long for the context window of ${chosen.name}.`);
    let transcriptChars = Math.floor(Math.min(TRANSCRIPT_CHARS_MAX, room * TRANSCRIPT_SHARE));
    let filesChars = Math.floor(Math.min(FILES_CHARS_MAX, room * FILES_SHARE));
    const tools = await lookTools(this.#deps);
    const looks = { left: LOOKS_MAX };
    let request = await this.#request({ ...subject, tools }, chosen, transcriptChars);
    return this.#within(timeoutMs, turn, async (signal) => {
      for (let halvings = 0; halvings <= HALVINGS_MAX; halvings++) {
        const judged = await this.#assessed(request, chosen, {
          turn,
          signal,
          cwd: cwdOf(planned, turn),
          filesChars,
          looks,
        });
        if (judged !== 'tooLong') return judged;
        transcriptChars = Math.floor(transcriptChars / 2);
        filesChars = Math.floor(filesChars / 2);
        request = await this.#request({ ...subject, tools }, chosen, transcriptChars);
      }
      return failedReview(
        `The conversation and the action are too long for the context window of ${chosen.name}.`,
      );
    });
  }

  async #request(
    { history, planned, hidden, policy, tools }: Subject & { tools: ToolSpec[] },
    { name, effort, serviceTier }: GuardianModel,
    charsMax: number,
  ) {
    const shown = await transcript(history, { ...this.#transcriptOptions(), charsMax });
    const { threadId } = this.#deps;
    return reviewRequest({
      threadId,
      name,
      effort,
      serviceTier,
      policy,
      transcript: shown,
      planned,
      hidden,
      tools,
    });
  }

  #transcriptOptions() {
    return {
      mask: (text: string) => this.#mask(text).value,
      goal: this.#deps.goal(),
      known: this.#known,
      breaks: this.#breaks,
    };
  }

  async #assessed(
    request: ModelRequest,
    { model }: { model: Model },
    reading: Reading,
  ): Promise<Judged | 'tooLong'> {
    const answer = await this.#answers.verdict(model, request, ASSESSMENT, reading);
    if ('verdict' in answer) return judgedBy(answer.verdict, answer.deciding);
    return answer.error.codexErrorInfo === 'contextWindowExceeded'
      ? 'tooLong'
      : failedReview(answer.error.message);
  }

  /** Does work that ends at the deadline, or when the turn is interrupted. */
  async #within<Result extends object>(
    ms: number,
    turn: TurnContext,
    work: (signal: AbortSignal) => Promise<Result | null>,
  ): Promise<Result | Judged> {
    const timeout = new AbortController();
    const timer = this.#deps.clock.setTimer(() => timeout.abort(), ms);
    try {
      const result = await work(AbortSignal.any([turn.signal, timeout.signal]));
      if (turn.signal.aborted) return ABORTED;
      if (timeout.signal.aborted)
        return {
          ...failedReview(`It did not end within ${ms / 1000} seconds.`),
          status: 'timedOut',
        };
      return result ?? ABORTED;
    } finally {
      timer.clear();
    }
  }

  get #mask(): DecisionMask {
    this.#madeMask ??= decisionMask(this.#deps.env);
    return this.#madeMask;
  }
}

function shownPlan({ value, hidden }: Masked<JsonObject>): Pick<Subject, 'planned' | 'hidden'> {
  return { planned: value, hidden };
}

/** The folder that an action runs in. */
function cwdOf({ cwd }: JsonObject, { settings }: TurnContext): string {
  return typeof cwd === 'string' ? cwd : settings.cwd;
}
