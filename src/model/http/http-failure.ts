import { isObject, parsedJson } from '../../base/json-value.ts';
import { cutText } from '../../base/text/cut-text.ts';
import type { TurnError } from '../../protocol/generated/types.ts';
import { redact } from '../../secrets/redact.ts';
import { isTooLong } from '../is-too-long.ts';
import { type ModelFailure, modelFailure } from '../model-failure.ts';
import type { Endpoint } from './endpoint.ts';
import { refusalWords } from './parameters/refusal-words.ts';
import { refusalAdvice } from './refusal-advice.ts';
import { retryAfterMs, waitInTextMs } from './retry-after-ms.ts';
import { RETRY_WAIT_MS_MAX } from './retry-plan.ts';

const TEXT_CHARS_MAX = 2_000;

interface ErrorMeaning {
  info: TurnError['codexErrorInfo'];
  /** Whether a retry can help. */
  passes: boolean;
}

/** The meaning of providers' error codes. An unknown code in a stream may be retried. */
const CODES = new Map<string, ErrorMeaning>([
  ['insufficient_quota', { info: 'usageLimitExceeded', passes: false }],
  ['usage_limit_reached', { info: 'usageLimitExceeded', passes: false }],
  ['usage_not_included', { info: 'usageLimitExceeded', passes: false }],
  ['server_is_overloaded', { info: 'serverOverloaded', passes: true }],
  ['slow_down', { info: 'rateLimitExceeded', passes: true }],
  ['rate_limit_exceeded', { info: 'rateLimitExceeded', passes: true }],
  ['cyber_policy', { info: 'cyberPolicy', passes: false }],
  ['content_policy_violation', { info: 'other', passes: false }],
  ['invalid_prompt', { info: 'other', passes: false }],
  ['invalid_request_error', { info: 'other', passes: false }],
  ['invalid_api_key', { info: 'other', passes: false }],
  ['model_not_found', { info: 'other', passes: false }],
]);
/**
 * How llama-server refuses, with 500, what it cannot take however often it is sent: by its options,
 * or by the template of the model.
 */
const UNTAKEABLE = /\b(?:requires|needs) --\w|\bunsupported param\b|\b(?:jinja|chat template)\b/i;
const TOO_LONG: ErrorMeaning = { info: 'contextWindowExceeded', passes: false };
/** Codes that say less than the HTTP status of the response. */
const CODES_BEHIND_STATUS = new Set([
  'rate_limit_exceeded',
  'invalid_request_error',
  'invalid_api_key',
  'model_not_found',
]);

/**
 * How servers refuse an effort for a model that does not reason. Refusals of a single effort do not
 * match.
 */
const NO_REASONING =
  /\bdoes not support (?:thinking|reasoning)\b|\b(?:unrecognized request argument|unsupported parameter).*\breasoning[._]effort\b/i;
/** The words with which providers refuse a picture, or pictures at all. */
const ABOUT_PICTURES =
  /image|picture|photo|vision|multi-?modal|mmproj|media[ _-]?type|mime|base64/i;
/** Gateways answer 404 if no model behind them takes pictures. */
const PICTURE_STATUSES: ReadonlySet<number | null> = new Set([400, 404, 413, 415, 422]);
/** Matches a refusal that may be caused by the reasoning settings. */
const ABOUT_REASONING = /reasoning|encrypted|\binclude\b/i;

export interface HttpRefusal {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The body, possibly truncated. */
  body: string;
  /** The requested model. */
  model: string;
  /** The current time in Unix milliseconds, for a wait that is given as a date. */
  now: number;
}

/** Makes the failure for a response with an error status. */
export function httpFailure(endpoint: Endpoint, refusal: HttpRefusal): ModelFailure {
  const { status, headers, body } = refusal;
  const stated = statedError(body, endpoint.secrets);
  const codes = stated.codes.filter((code) => !CODES_BEHIND_STATUS.has(code));
  const known = knownMeaning({ status, codes, text: stated.text });
  const meaning = known ?? statusMeaning(status, stated.text);
  const said = stated.text === '' ? '' : ` ${sentence(stated.text)}`;
  const quotaIsUsedUp = meaning.info === 'usageLimitExceeded';
  const advice = refusalAdvice(endpoint, {
    ...stated,
    status,
    location: headers.location,
    model: refusal.model,
    quotaIsUsedUp,
  });
  const message = `${endpoint.label} answered HTTP ${status}.${said}${advice}`;
  const waitMs = retryAfterMs(headers, refusal.now) ?? waitInTextMs(stated.text);
  const final = known ? 'never' : finalRetry(status, { body, text: stated.text });
  const failure = modelFailure(
    redact(message, endpoint.secrets),
    meaning.info,
    meaning.passes ? 'request' : final,
  );
  const words = known ? [] : refusalWords(body, status);
  return { ...waitingFailure(withCause(failure, stated.text), waitMs), refusal: words };
}

function finalRetry(
  status: number,
  { body, text }: { body: string; text: string },
): ModelFailure['retry'] {
  if (status === 400 && NO_REASONING.test(text)) return 'withoutReasoning';
  return (status === 400 || status === 422) && ABOUT_REASONING.test(body)
    ? 'withoutExtras'
    : 'never';
}

/** Makes the failure for an error inside a stream, in `response.failed` or an `error` event. */
export function streamFailure(
  source: Pick<Endpoint, 'label' | 'secrets'>,
  error: unknown,
): ModelFailure {
  const stated = statedError({ error }, source.secrets);
  const meaning = knownMeaning({ status: null, ...stated }) ?? { info: 'other', passes: true };
  const said = stated.text === '' ? stated.codes.join(', ') : stated.text;
  const message = `${source.label} could not answer${said === '' ? '.' : `: ${sentence(said)}`}`;
  const failure = modelFailure(
    redact(message, source.secrets),
    meaning.info,
    meaning.passes ? 'stream' : 'never',
  );
  const refusal = meaning.info === 'other' ? refusalWords(error, statedStatus(error)) : [];
  return { ...waitingFailure(withCause(failure, said), waitInTextMs(stated.text)), refusal };
}

/**
 * Makes the failure for an error in a successful response that is not a stream; null if there is
 * none. `body`: a string or its JSON.
 */
export function wholeFailure(
  endpoint: Endpoint,
  { body, model }: { body: unknown; model: string },
): ModelFailure | null {
  const value = typeof body === 'string' ? parsedJson(body) : body;
  if (!isObject(value) || value.error === undefined || value.error === null) return null;
  const stated = statedError(value, endpoint.secrets);
  const status = statedStatus(value.error);
  const meaning = knownMeaning({ ...stated, status }) ?? { info: 'other', passes: false };
  const quotaIsUsedUp = meaning.info === 'usageLimitExceeded';
  const refused = { ...stated, status, location: undefined, model, quotaIsUsedUp };
  const advice =
    refusalAdvice(endpoint, refused) ||
    (stated.text === '' ? ' Check base_url of the provider.' : '');
  const message = `${endpoint.label} answered with an error: ${sentence(stated.text || 'no reason given')}${advice}`;
  const failure = modelFailure(
    redact(message, endpoint.secrets),
    meaning.info,
    meaning.passes ? 'request' : 'never',
  );
  const refusal = meaning.info === 'other' ? refusalWords(value, status) : [];
  return { ...withCause(failure, stated.text), refusal };
}

/** The status that the error states, else that of the response it came in. */
function statedStatus(error: unknown): number {
  const code = isObject(error) ? Number(error.code) : 0;
  return Number.isInteger(code) && code >= 400 && code < 600 ? code : 200;
}

function knownMeaning(refusal: Parameters<typeof isTooLong>[0]): ErrorMeaning | undefined {
  if (isTooLong(refusal)) return TOO_LONG;
  return refusal.codes.map((code) => CODES.get(code)).find((meaning) => meaning !== undefined);
}

function statusMeaning(status: number, text: string): ErrorMeaning {
  if (status === 400) return { info: 'other', passes: false };
  if (status === 429)
    return { info: { responseTooManyFailedAttempts: { httpStatusCode: 429 } }, passes: true };
  if (status === 500) return { info: 'internalServerError', passes: !UNTAKEABLE.test(text) };
  return {
    info: { httpConnectionFailed: { httpStatusCode: status } },
    passes: status > 500 || status === 408 || status === 409,
  };
}

/**
 * The failure, marked if the provider's own text and the kind of the failure say that a picture is
 * refused.
 */
function withCause(failure: ModelFailure, text: string): ModelFailure {
  const { codexErrorInfo: info } = failure.error;
  // llama.cpp answers 500 if a model takes no pictures.
  const canRefuse =
    info === 'other' ||
    info === 'internalServerError' ||
    (typeof info === 'object' &&
      info !== null &&
      'httpConnectionFailed' in info &&
      PICTURE_STATUSES.has(info.httpConnectionFailed.httpStatusCode));
  return canRefuse && ABOUT_PICTURES.test(text) ? { ...failure, refusesPictures: true } : failure;
}

/** A provider that asks for a longer wait than the limit has failed. */
function waitingFailure(failure: ModelFailure, waitMs: number | null): ModelFailure {
  if (waitMs === null || waitMs <= RETRY_WAIT_MS_MAX) return { ...failure, waitMs };
  const message = `${failure.error.message} It asks to wait ${Math.ceil(waitMs / 1000)} s, which is longer than heddle waits.`;
  return { ...failure, error: { ...failure.error, message }, retry: 'never', waitMs };
}

/**
 * Text and codes of an error in its common shapes: `{error: {message, code, type}}`, `{error:
 * "…"}`, `{message}`, `{detail}`, text.
 */
function statedError(body: unknown, secrets: string[]): { text: string; codes: string[] } {
  const value = typeof body === 'string' ? parsedJson(body) : body;
  if (!isObject(value))
    return { text: short(typeof body === 'string' ? pageTitle(body) : '', secrets), codes: [] };
  const error = isObject(value.error) ? value.error : value;
  const texts = [error.message, value.error, value.message, value.detail];
  const text = texts.find((each): each is string => typeof each === 'string') ?? '';
  const codes = [error.code, error.type].filter((code) => typeof code === 'string');
  return { text: short(text, secrets), codes: codes.map((code) => short(code, secrets)) };
}

/** The title of a web page; any other text unchanged. */
function pageTitle(text: string): string {
  if (!/^\s*<(?:!doctype html|html)\b/i.test(text)) return text;
  return `It is a web page: ${/<title[^>]*>([^<]*)/i.exec(text)?.[1]?.trim() || 'without a title'}`;
}

/** Removes secrets before it cuts the text: a cut could leave a part of one. */
function short(text: string, secrets: string[]): string {
  const line = cutText(redact(text, secrets), TEXT_CHARS_MAX * 2)
    .replace(/\s+/g, ' ')
    .trim();
  return line.length > TEXT_CHARS_MAX ? `${cutText(line, TEXT_CHARS_MAX)}…` : line;
}

function sentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}
