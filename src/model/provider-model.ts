import type { LookupFunction } from 'node:net';
import { type Clock, sleep } from '../base/clock.ts';
import type { JsonObject } from '../base/json.ts';
import type { Log } from '../base/log.ts';
import type { ProviderConfig } from '../config/provider.ts';
import type { TurnError } from '../protocol/generated/types.ts';
import { Attempt, type AttemptOptions } from './attempt.ts';
import { resolveEndpoint } from './endpoint.ts';
import { HttpClient, type HttpQuestion } from './http-exchange.ts';
import type { Model, ModelEvent, ModelRequest } from './model.ts';
import type { ModelFailure } from './model-failure.ts';
import type { ProviderApi } from './provider-api.ts';
import { type Retry, RetryPlan } from './retry.ts';
import { retryingError } from './retrying-error.ts';

export interface ProviderModelDeps {
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  userAgent: string;
  log: Log;
  /** How names resolve; by default as the system does. */
  lookup?: LookupFunction;
}

/**
 * A model behind a provider's API, streamed as server-sent events. It keeps connections to its provider open between
 * requests, so make one per provider.
 */
export function createProviderModel(api: ProviderApi, provider: ProviderConfig, deps: ProviderModelDeps): Model {
  const client = new HttpClient(deps.clock, deps.lookup);
  const unreasoning = new Set<string>();
  return { stream: (request, signal) => stream({ api, provider, deps, client, unreasoning, request, signal }) };
}

interface Question {
  api: ProviderApi;
  provider: ProviderConfig;
  deps: ProviderModelDeps;
  client: HttpClient;
  /** The names of models that refused settings of reasoning. They are not sent any. */
  unreasoning: Set<string>;
  request: ModelRequest;
  signal: AbortSignal;
}

async function* stream(question: Question): AsyncGenerator<ModelEvent, void, undefined> {
  // Events come in groups, as the network gives them: one wait for each group, not for each event.
  for await (const events of answer(question)) {
    for (const event of events) {
      if (question.signal.aborted) return;
      yield event;
    }
  }
}

async function* answer(question: Question): AsyncGenerator<ModelEvent[], void, undefined> {
  const { provider, deps, signal } = question;
  if (signal.aborted) return;
  const prepared = prepare(question);
  if ('message' in prepared) {
    yield [{ type: 'failed', error: prepared }];
    return;
  }
  const retries = new RetryPlan(provider, deps.clock);
  const asked = { options: prepared };
  yield [{ type: 'started' }];
  for (;;) {
    const failure = yield* ask(question, asked);
    if (failure === null || signal.aborted) return;
    const { codexErrorInfo } = failure.error;
    const retry = retries.next(failure);
    if (retry === null) {
      yield [{ type: 'failed', error: failure.error }];
      return;
    }
    deps.log.info({ provider: provider.id, delayMs: retry.delayMs, codexErrorInfo }, 'model request tried again');
    if (!retry.silent) yield [{ type: 'retrying', error: retryingError(failure.error, retryDetails(retry)), delayMs: retry.delayMs }];
    await sleep(deps.clock, retry.delayMs, signal);
    if (signal.aborted) return;
    if (!retry.silent) yield [{ type: 'started' }];
  }
}

/** Asks once; or again at once, and from then on, without settings of reasoning where the model refuses them. */
async function* ask(question: Question, asked: { options: AttemptOptions }): AsyncGenerator<ModelEvent[], ModelFailure | null, undefined> {
  const failure = yield* tryOnce(asked.options);
  const plain = failure?.retry === 'withoutReasoning' ? prepareWithoutReasoning(question) : null;
  if (plain === null) return failure;
  asked.options = plain;
  return yield* tryOnce(plain);
}

async function* tryOnce(options: AttemptOptions): AsyncGenerator<ModelEvent[], ModelFailure | null, undefined> {
  const attempt = new Attempt(options);
  try {
    for (let events = await attempt.next(); events !== null; events = await attempt.next()) yield events;
  } finally {
    attempt.close();
  }
  return attempt.failure;
}

/** What every attempt sends; or, where there is nothing to send, why. */
function prepare({ api, provider, deps, client, unreasoning, request, signal }: Question): AttemptOptions | TurnError {
  const endpoint = resolveEndpoint(provider, api.path, deps);
  if ('message' in endpoint) return endpoint;
  const body = bytes(api.body(unreasoning.has(request.model) ? { ...request, effort: null, summary: null } : request));
  if (body === null) return tooLarge(endpoint.label);
  const { url, headers } = endpoint;
  const question: HttpQuestion = { method: 'POST', url, headers, body, idleMsMax: provider.streamIdleTimeoutMs };
  const translator = () => api.translator(endpoint, request);
  return { endpoint, model: request.model, client, clock: deps.clock, log: deps.log, question, translator, signal };
}

/** The same without settings of reasoning, here and from now on; null: there were none. */
function prepareWithoutReasoning(question: Question): AttemptOptions | null {
  const { request, unreasoning } = question;
  if (unreasoning.has(request.model) || (request.effort === null && request.summary === null)) return null;
  unreasoning.add(request.model);
  const prepared = prepare(question);
  return 'message' in prepared ? null : prepared;
}

/** The request as it is sent; null where it is longer than a text can be. */
function bytes(body: JsonObject): Buffer | null {
  try {
    return Buffer.from(JSON.stringify(body));
  } catch (cause) {
    if (cause instanceof RangeError) return null;
    throw cause;
  }
}

function tooLarge(label: string): TurnError {
  return { message: `The request for ${label} is too large to be sent.`, codexErrorInfo: 'badRequest', additionalDetails: null };
}

function retryDetails({ delayMs, number, ofAtMost }: Retry): string {
  return `Retry ${number} of at most ${ofAtMost}, in ${delayMs / 1000} s.`;
}
