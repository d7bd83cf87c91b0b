import type { LookupFunction } from 'node:net';
import { type Clock, sleep } from '../../base/clock.ts';
import type { JsonObject } from '../../base/json-value.ts';
import type { Log } from '../../base/log.ts';
import type { ProviderConfig } from '../../config/providers/provider-config.ts';
import type { TurnError } from '../../protocol/generated/types.ts';
import type { Model, ModelEvent, ModelRequest } from '../model.ts';
import type { ModelFailure } from '../model-failure.ts';
import { Attempt, type AttemptOptions } from './attempt.ts';
import { resolveEndpoint } from './endpoint.ts';
import { HttpClient, type HttpRequest } from './http-exchange.ts';
import type { ProviderApi, ReasoningSent } from './provider-api.ts';
import { type Retry, RetryPlan } from './retry-plan.ts';
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
  const reasoningTaken = new Map<string, ReasoningSent>();
  return { stream: (request, signal) => stream({ api, provider, deps, client, reasoningTaken, request, signal }) };
}

interface ModelCall {
  api: ProviderApi;
  provider: ProviderConfig;
  deps: ProviderModelDeps;
  client: HttpClient;
  /** Of models, by their names, that refused what requests said about reasoning: what they are sent from then on. */
  reasoningTaken: Map<string, ReasoningSent>;
  request: ModelRequest;
  signal: AbortSignal;
}

/** What is sent, and what it says about reasoning. */
interface PreparedRequest {
  options: AttemptOptions;
  reasoning: ReasoningSent;
}

/** From most to least. */
const REASONING_SENT: readonly ReasoningSent[] = ['full', 'asked', 'none'];

/** What may be asked with instead after a refusal of its kind. What a user asked for is left out only where that was refused. */
const PLAINER: Partial<Record<ModelFailure['retry'], readonly ReasoningSent[]>> = {
  withoutExtras: ['asked'],
  withoutReasoning: ['asked', 'none'],
};

async function* stream(call: ModelCall): AsyncGenerator<ModelEvent, void, undefined> {
  // Events come in groups, as the network gives them: one wait for each group, not for each event.
  for await (const events of eventGroups(call)) {
    for (const event of events) {
      if (call.signal.aborted) return;
      yield event;
    }
  }
}

async function* eventGroups(call: ModelCall): AsyncGenerator<ModelEvent[], void, undefined> {
  const { provider, deps, signal } = call;
  if (signal.aborted) return;
  const reasoning = call.reasoningTaken.get(call.request.model) ?? 'full';
  const options = prepare(call, reasoning);
  if ('message' in options) {
    yield [{ type: 'failed', error: options }];
    return;
  }
  const retries = new RetryPlan(provider, deps.clock);
  const prepared: PreparedRequest = { options, reasoning };
  yield [{ type: 'started' }];
  for (;;) {
    const failure = yield* attemptWithFallbacks(call, prepared);
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

/** Asks once; or again at once with less about reasoning, where the model refuses that. */
async function* attemptWithFallbacks(
  call: ModelCall,
  prepared: PreparedRequest,
): AsyncGenerator<ModelEvent[], ModelFailure | null, undefined> {
  for (;;) {
    const failure = yield* runAttempt(prepared.options);
    if (failure === null) {
      // Remembered only where it helped: a refusal may have been for something else.
      call.reasoningTaken.set(call.request.model, prepared.reasoning);
      return null;
    }
    const plainer = prepareWithLess(call, prepared, failure.retry);
    if (plainer === null) return failure;
    Object.assign(prepared, plainer);
  }
}

async function* runAttempt(options: AttemptOptions): AsyncGenerator<ModelEvent[], ModelFailure | null, undefined> {
  const attempt = new Attempt(options);
  try {
    for (let events = await attempt.next(); events !== null; events = await attempt.next()) yield events;
  } finally {
    attempt.close();
  }
  return attempt.failure;
}

/** What every attempt sends; or, where there is nothing to send, why. */
function prepare({ api, provider, deps, client, request, signal }: ModelCall, reasoning: ReasoningSent): AttemptOptions | TurnError {
  const endpoint = resolveEndpoint(provider, api.path, deps);
  if ('message' in endpoint) return endpoint;
  const body = bytes(api.body(request, reasoning));
  if (body === null) return tooLarge(endpoint.label);
  const { url, headers } = endpoint;
  const httpRequest: HttpRequest = { method: 'POST', url, headers, body, idleMsMax: provider.streamIdleTimeoutMs };
  const translator = () => api.translator(endpoint, request);
  return { endpoint, model: request.model, client, clock: deps.clock, log: deps.log, httpRequest, translator, signal };
}

/** The same with less about reasoning; null: there is nothing to leave out that can have been refused. */
function prepareWithLess(call: ModelCall, prepared: PreparedRequest, refused: ModelFailure['retry']): PreparedRequest | null {
  const plainer = PLAINER[refused]?.filter((each) => REASONING_SENT.indexOf(each) > REASONING_SENT.indexOf(prepared.reasoning)) ?? [];
  for (const reasoning of plainer) {
    const options = prepare(call, reasoning);
    if ('message' in options) return null;
    if (options.httpRequest.body.equals(prepared.options.httpRequest.body)) continue;
    return { options, reasoning };
  }
  return null;
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
