import type { CutStep, ErrorStep } from '../../protocol/generated/model-script.ts';
import type { TurnError } from '../../protocol/generated/types.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { httpFailure } from '../http/http-failure.ts';
import { brokenStreamFailure } from '../http/unanswered-failure.ts';
import type { ModelFailure } from '../model-failure.ts';

/** Takes the place of a provider in error texts. */
const ENDPOINT: Endpoint = {
  url: new URL('http://scripted.invalid/'),
  headers: {},
  label: 'The scripted model',
  keySource: 'env_key of the provider',
  unsetVariables: [],
  loginAdvice: null,
  localServer: null,
  proxy: null,
  secrets: [],
};

type ErrorWord = Exclude<ErrorStep['error'], number>;

/** Makes the failure of a failing step. `now` is in Unix milliseconds. */
export function scriptedFailure(
  step: ErrorStep | CutStep,
  now: number,
): Pick<ModelFailure, 'error' | 'refusesPictures'> {
  if ('cut' in step) return brokenStreamFailure(ENDPOINT, null, { idleMsMax: 0, hasPart: false });
  const additionalDetails = step.details ?? null;
  if (typeof step.error === 'number') {
    const body = step.text === undefined ? '' : JSON.stringify({ error: { message: step.text } });
    const failure = httpFailure(ENDPOINT, {
      status: step.error,
      headers: {},
      body,
      model: 'scripted',
      now,
    });
    return { ...failure, error: { ...failure.error, additionalDetails } };
  }
  const message =
    step.text ?? `${ENDPOINT.label} could not answer: the script fails with ${step.error}.`;
  return { error: { message, codexErrorInfo: errorInfo(step.error), additionalDetails } };
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
