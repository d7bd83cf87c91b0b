import type { LookupFunction } from 'node:net';
import { type Clock, sleep } from '../../base/clock.ts';
import { EventLoopYield } from '../../base/event-loop-yield.ts';
import { HttpClient } from '../../base/http/http-client.ts';
import type { HttpRequest } from '../../base/http/http-exchange.ts';
import type { Log } from '../../base/log.ts';
import type { ProviderConfig } from '../../config/providers/provider-config.ts';
import type { RateLimitSnapshot, TurnError } from '../../protocol/generated/types.ts';
import type { Model, ModelEvent, ModelRequest } from '../model.ts';
import { failedEvent, type ModelFailure } from '../model-failure.ts';
import { Attempt, type AttemptOptions } from './attempt.ts';
import { type EndpointDeps, lowerCaseNames, resolveEndpoint } from './endpoint.ts';
import { EventRedactor } from './event-redactor.ts';
import { ItemTexts } from './item-texts.ts';
import type { BodyTools, ProviderApi, ReasoningSent } from './provider-api.ts';
import { type Retry, RetryPlan } from './retry-plan.ts';
import { retryingError } from './retrying-error.ts';
import { toldRateLimits } from './told-rate-limits.ts';

export interface ProviderModelDeps extends EndpointDeps {
  clock: Clock;
  log: Log;
  /** Called with the rate limits that a response tells. */
  onRateLimits?: ((limits: RateLimitSnapshot) => void) | undefined;
  /** Resolves host names; the system's by default. */
  lookup?: LookupFunction;
}

/**
 * Creates a model behind a provider's API, which streams server-sent events. It keeps connections open between requests, so
 * create one per provider.
 */
export function createProviderModel(api: ProviderApi, provider: ProviderConfig, deps: ProviderModelDeps): Model {
  const client = new HttpClient(deps);
  const reasoningTaken = new Map<string, ReasoningSent>();
  const bodyTools = { pace: new EventLoopYield(), texts: new ItemTexts() };
  return { stream: (request, signal) => stream({ api, provider, deps, client, reasoningTaken, bodyTools, request, signal }) };
}

interface ModelCall {
  api: ProviderApi;
  provider: ProviderConfig;
  deps: ProviderModelDeps;
  client: HttpClient;
  /** By model name: the reasoning settings that the model accepted last. */
  reasoningTaken: Map<string, ReasoningSent>;
  bodyTools: BodyTools;
  request: ModelRequest;
  signal: AbortSignal;
}

/** A request that is ready to be sent, and the reasoning settings in it. */
interface ReadyRequest {
  options: AttemptOptions;
  reasoning: ReasoningSent;
}

/** In the order in which they are tried. */
const REASONING_SENT: readonly ReasoningSent[] = ['full', 'asked', 'none'];

/** By kind of refusal, the settings to try instead. Settings that the user chose are left out only if those were refused. */
const PLAINER: Partial<Record<ModelFailure['retry'], readonly ReasoningSent[]>> = {
  withoutExtras: ['asked'],
  withoutReasoning: ['asked', 'none'],
};

async function* stream(call: ModelCall): AsyncGenerator<ModelEvent, void, undefined> {
  // Events arrive in groups, one for each network read, so there is one wait per group.
  for await (const events of eventGroups(call)) {
    for (const event of events) {
      if (call.signal.aborted) return;
      yield event;
    }
  }
}

async function* eventGroups(call: ModelCall): AsyncGenerator<ModelEvent[], void, undefined> {
  const { provider, deps, signal } = call;
  const reasoning = call.reasoningTaken.get(call.request.model) ?? 'full';
  const options = await prepare(call, reasoning);
  if (signal.aborted) return;
  if ('message' in options) {
    yield [{ type: 'failed', error: options }];
    return;
  }
  const retries = new RetryPlan(provider, deps.clock, call.request.retries);
  const prepared: ReadyRequest = { options, reasoning };
  yield [{ type: 'started' }];
  for (;;) {
    const failure = yield* attemptWithFallbacks(call, prepared);
    if (failure === null || signal.aborted) return;
    const { codexErrorInfo } = failure.error;
    const retry = retries.next(failure);
    if (retry === null) {
      yield [failedEvent(failure)];
      return;
    }
    const { delayMs, spent } = retry;
    deps.log.info({ provider: provider.id, delayMs, codexErrorInfo }, 'retrying a model request');
    if (!retry.silent) yield [{ type: 'retrying', error: retryingError(failure.error, retryDetails(retry)), delayMs, spent }];
    await sleep(deps.clock, delayMs, signal);
    if (signal.aborted) return;
    if (!retry.silent) yield [{ type: 'started' }];
  }
}

/** Sends the request; if the model refuses its reasoning settings, sends it again at once with fewer. */
async function* attemptWithFallbacks(
  call: ModelCall,
  prepared: ReadyRequest,
): AsyncGenerator<ModelEvent[], ModelFailure | null, undefined> {
  for (;;) {
    const failure = yield* runAttempt(prepared.options);
    if (failure === null) {
      // Remembered only on success: the refusal may have had another cause.
      call.reasoningTaken.set(call.request.model, prepared.reasoning);
      return null;
    }
    const plainer = await prepareWithLess(call, prepared, failure.retry);
    if (plainer === null) return failure;
    Object.assign(prepared, plainer);
  }
}

async function* runAttempt(options: AttemptOptions): AsyncGenerator<ModelEvent[], ModelFailure | null, undefined> {
  const attempt = new Attempt(options);
  const redactor = new EventRedactor(options.endpoint.secrets);
  try {
    for (let events = await attempt.next(); events !== null; events = await attempt.next()) yield redactor.redact(events);
  } finally {
    attempt.close();
  }
  return attempt.failure === null ? null : redactor.redactFailure(attempt.failure);
}

/** Returns what every attempt sends, or the error if no request can be sent. */
async function prepare(call: ModelCall, reasoning: ReasoningSent): Promise<AttemptOptions | TurnError> {
  const { api, provider, deps, client, request, signal } = call;
  const endpoint = resolveEndpoint(provider, api.path, deps);
  if ('message' in endpoint) return endpoint;
  const body = await api.body(request, reasoning, call.bodyTools);
  const { url, proxy } = endpoint;
  const headers = { ...endpoint.headers, ...request.headers, ...lowerCaseNames(provider.httpHeaders) };
  const { connectTimeoutMs: connectMsMax, streamIdleTimeoutMs: idleMsMax } = provider;
  const httpRequest: HttpRequest = { method: 'POST', url, proxy, headers, body, connectMsMax, idleMsMax };
  const translator = () => api.translator(endpoint, request);
  const onHeaders: AttemptOptions['onHeaders'] = (received) => {
    const limits = deps.onRateLimits === undefined ? null : toldRateLimits(received);
    if (limits !== null) deps.onRateLimits?.(limits);
  };
  return { endpoint, model: request.model, onHeaders, client, clock: deps.clock, log: deps.log, httpRequest, translator, signal };
}

/** Returns the request with fewer reasoning settings; null if none is left that may have been refused. */
async function prepareWithLess(call: ModelCall, prepared: ReadyRequest, refused: ModelFailure['retry']): Promise<ReadyRequest | null> {
  const plainer = PLAINER[refused]?.filter((each) => REASONING_SENT.indexOf(each) > REASONING_SENT.indexOf(prepared.reasoning)) ?? [];
  for (const reasoning of plainer) {
    const options = await prepare(call, reasoning);
    if ('message' in options) return null;
    const before = prepared.options.httpRequest.body;
    if (before !== null && options.httpRequest.body?.equals(before)) continue;
    return { options, reasoning };
  }
  return null;
}

function retryDetails({ delayMs, number, ofAtMost }: Retry): string {
  return `Retry ${number} of at most ${ofAtMost}, in ${delayMs / 1000} s.`;
}
