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
import { BegunBodies } from './begun-bodies.ts';
import { type EndpointDeps, lowerCaseNames, resolveEndpoint } from './endpoint.ts';
import { EventRedactor } from './event-redactor.ts';
import { ItemTexts } from './item-texts.ts';
import { AcceptedSettings, type LeftOut } from './parameters/accepted-settings.ts';
import { refusedParameter } from './parameters/optional-parameter.ts';
import type { ReasoningSent, SentSettings } from './parameters/sent-settings.ts';
import type { BodyTools, ProviderApi } from './provider-api.ts';
import { ArrivingResponses } from './response/arriving-responses.ts';
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
  /** The same for all providers; by default only for this one. */
  arriving?: ArrivingResponses;
}

/**
 * Creates a model behind a provider's API, which streams server-sent events. It keeps connections
 * open between requests, so create one per provider.
 */
export function createProviderModel(
  api: ProviderApi,
  provider: ProviderConfig,
  deps: ProviderModelDeps,
): Model {
  const client = new HttpClient(deps);
  const accepted = new AcceptedSettings();
  const arriving = deps.arriving ?? new ArrivingResponses(deps.clock);
  const bodyTools = { pace: new EventLoopYield(), texts: new ItemTexts() };
  const begun = new BegunBodies();
  return {
    prepare(request, signal) {
      const settings = accepted.settingsFor(request, api.parameters);
      const body = api.beginBody?.(request, sentSettings(settings), bodyTools);
      if (body !== undefined) begun.add({ request, settings, body }, signal);
    },
    stream: (request, signal) =>
      stream({
        api,
        provider,
        deps,
        client,
        accepted,
        arriving,
        bodyTools,
        begun,
        request,
        signal,
      }),
  };
}

interface ModelCall {
  api: ProviderApi;
  provider: ProviderConfig;
  deps: ProviderModelDeps;
  client: HttpClient;
  accepted: AcceptedSettings;
  arriving: ArrivingResponses;
  bodyTools: BodyTools;
  begun: BegunBodies;
  request: ModelRequest;
  signal: AbortSignal;
}

/** A request that is ready to be sent, and the settings in it. */
interface ReadyRequest {
  options: AttemptOptions;
  reasoning: ReasoningSent;
  leftOut: readonly LeftOut[];
}

/** In the order in which they are tried. */
const REASONING_SENT: readonly ReasoningSent[] = ['full', 'asked', 'none'];

/**
 * By kind of refusal, the settings to try instead. Settings that the user chose are left out only
 * if those were refused.
 */
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
  const settings = call.accepted.settingsFor(call.request, call.api.parameters);
  const options = await prepare(call, settings);
  if (signal.aborted) return;
  if ('message' in options) {
    yield [{ type: 'failed', error: options }];
    return;
  }
  const retries = new RetryPlan(provider, deps.clock, call.request.retries);
  const prepared: ReadyRequest = { options, ...settings };
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
    if (!retry.silent)
      yield [
        {
          type: 'retrying',
          error: retryingError(failure.error, retryDetails(retry)),
          delayMs,
          spent,
        },
      ];
    await sleep(deps.clock, delayMs, signal);
    if (signal.aborted) return;
    if (!retry.silent) yield [{ type: 'started' }];
  }
}

/** Sends the request; if the model refuses settings of it, sends it again at once without them. */
async function* attemptWithFallbacks(
  call: ModelCall,
  prepared: ReadyRequest,
): AsyncGenerator<ModelEvent[], ModelFailure | null, undefined> {
  for (;;) {
    const failure = yield* runAttempt(call, prepared);
    if (failure === null) return null;
    const plainer =
      (await prepareWithout(call, prepared, failure)) ??
      (await prepareWithLess(call, prepared, failure.retry));
    if (plainer === null) return failure;
    Object.assign(prepared, plainer);
  }
}

/** The events that do not show yet that the model answers. */
const BEFORE_ANSWER: ReadonlySet<ModelEvent['type']> = new Set(['answered', 'moderated']);

async function* runAttempt(
  call: ModelCall,
  prepared: ReadyRequest,
): AsyncGenerator<ModelEvent[], ModelFailure | null, undefined> {
  const attempt = new Attempt(prepared.options);
  const redactor = new EventRedactor(prepared.options.endpoint.secrets);
  let hasBegun = false;
  try {
    for (let events = await attempt.next(); events !== null; events = await attempt.next()) {
      if (!hasBegun && events.some(({ type }) => !BEFORE_ANSWER.has(type))) {
        hasBegun = true;
        call.accepted.answered(call.request, prepared);
        const told = prepared.leftOut.flatMap(({ event }) => event ?? []);
        if (told.length > 0) yield told;
      }
      yield redactor.redact(events);
    }
  } finally {
    attempt.close();
  }
  if (attempt.failure === null) return null;
  const failure = redactor.redactFailure(attempt.failure);
  // After a part of the answer, no parameter was refused.
  return hasBegun ? { ...failure, refusal: [] } : failure;
}

/** Returns what every attempt sends, or the error if no request can be sent. */
async function prepare(
  call: ModelCall,
  settings: Omit<ReadyRequest, 'options'>,
): Promise<AttemptOptions | TurnError> {
  const { api, provider, deps, client, arriving, request, signal } = call;
  const endpoint = resolveEndpoint(provider, api.path, deps);
  if ('message' in endpoint) return endpoint;
  const begun = await call.begun.take(request, settings);
  const body = await api.body(request, sentSettings(settings), call.bodyTools, begun);
  const headers = {
    ...endpoint.headers,
    ...request.headers,
    ...lowerCaseNames(provider.httpHeaders),
  };
  const httpRequest: HttpRequest = {
    method: 'POST',
    url: endpoint.url,
    proxy: endpoint.proxy,
    headers,
    body,
    connectMsMax: provider.connectTimeoutMs,
    idleMsMax: provider.streamIdleTimeoutMs,
  };
  const onHeaders: AttemptOptions['onHeaders'] = (received) => {
    const limits = deps.onRateLimits === undefined ? null : toldRateLimits(received);
    if (limits !== null) deps.onRateLimits?.(limits);
  };
  const { clock, log } = deps;
  return {
    endpoint,
    model: request.model,
    onHeaders,
    client,
    clock,
    log,
    httpRequest,
    arriving,
    translator: () => api.translator(endpoint, request),
    signal,
  };
}

/**
 * Returns the request without the parameter that the failure names; null if it names none of those
 * that were sent.
 */
async function prepareWithout(
  call: ModelCall,
  prepared: ReadyRequest,
  failure: ModelFailure,
): Promise<ReadyRequest | null> {
  const { api, request, deps, provider } = call;
  const parameter = refusedParameter(api.parameters, failure, {
    request,
    settings: sentSettings(prepared),
  });
  if (parameter === null) return null;
  const { name, loss } = parameter;
  const message = `${failure.error.message} The request is sent without ${name}. ${loss}`;
  const event = loss === null ? null : { type: 'leftOut' as const, parameter: name, message };
  const leftOut = [...prepared.leftOut, { parameter, event }];
  const options = await prepare(call, { ...prepared, leftOut });
  if ('message' in options) return null;
  deps.log.info(
    { provider: provider.id, model: request.model, parameter: name },
    'a provider refused a parameter, which is left out',
  );
  return { options, reasoning: prepared.reasoning, leftOut };
}

function sentSettings({
  reasoning,
  leftOut,
}: Pick<ReadyRequest, 'reasoning' | 'leftOut'>): SentSettings {
  return { reasoning, leftOut: new Set(leftOut.map(({ parameter }) => parameter.name)) };
}

/**
 * Returns the request with fewer reasoning settings; null if none is left that may have been
 * refused.
 */
async function prepareWithLess(
  call: ModelCall,
  prepared: ReadyRequest,
  refused: ModelFailure['retry'],
): Promise<ReadyRequest | null> {
  const plainer =
    PLAINER[refused]?.filter(
      (each) => REASONING_SENT.indexOf(each) > REASONING_SENT.indexOf(prepared.reasoning),
    ) ?? [];
  for (const reasoning of plainer) {
    const options = await prepare(call, { ...prepared, reasoning });
    if ('message' in options) return null;
    const before = prepared.options.httpRequest.body;
    if (before !== null && options.httpRequest.body?.equals(before)) continue;
    return { options, reasoning, leftOut: prepared.leftOut };
  }
  return null;
}

function retryDetails({ delayMs, number, ofAtMost }: Retry): string {
  return `Retry ${number} of at most ${ofAtMost}, in ${delayMs / 1000} s.`;
}
