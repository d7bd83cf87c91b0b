import type { CutStep, ErrorStep } from '../../protocol/generated/model-script.ts';
import type { TurnError } from '../../protocol/generated/types.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { httpFailure } from '../http/http-failure.ts';
import { brokenStreamFailure } from '../http/unanswered-failure.ts';

/** Takes the place of a provider in error texts. */
const ENDPOINT: Endpoint = {
  url: new URL('http://scripted.invalid/'),
  headers: {},
  label: 'The scripted model',
  keySource: 'env_key of the provider',
  loginAdvice: null,
  localServer: null,
  proxy: null,
  secrets: [],
};

type ErrorWord = Exclude<ErrorStep['error'], number>;

/** Makes the error of a failing step. `now` is in Unix milliseconds. */
export function scriptedFailure(step: ErrorStep | CutStep, now: number): TurnError {
  if ('cut' in step) return brokenStreamFailure(ENDPOINT, null, 0).error;
  const additionalDetails = step.details ?? null;
  if (typeof step.error === 'number') {
    const body = step.text === undefined ? '' : JSON.stringify({ error: { message: step.text } });
    return { ...httpFailure(ENDPOINT, { status: step.error, headers: {}, body, model: 'scripted', now }).error, additionalDetails };
  }
  const message = step.text ?? `${ENDPOINT.label} could not answer: the script fails with ${step.error}.`;
  return { message, codexErrorInfo: errorInfo(step.error), additionalDetails };
}

function errorInfo(word: ErrorWord): TurnError['codexErrorInfo'] {
  const noStatus = { httpStatusCode: null };
  switch (word) {
    case 'httpConnectionFailed':
      return { httpConnectionFailed: noStatus };
    case 'responseStreamConnectionFailed':
      return { responseStreamConnectionFailed: noStatus };
    case 'responseStreamDisconnected':
      return { responseStreamDisconnected: noStatus };
    case 'responseTooManyFailedAttempts':
      return { responseTooManyFailedAttempts: noStatus };
    default:
      return word;
  }
}
