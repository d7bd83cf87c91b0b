import type { CodexErrorInfo, TurnError } from '../protocol/generated/types.ts';
import { camelCase, Fields } from './fields.ts';

const WORDS = [
  'contextWindowExceeded',
  'sessionBudgetExceeded',
  'usageLimitExceeded',
  'rateLimitExceeded',
  'flexUnavailable',
  'serverOverloaded',
  'modelNotFound',
  'policyCapacityUnavailable',
  'cyberPolicy',
  'misalignmentPolicyViolation',
  'tooManyDenials',
  'internalServerError',
  'unauthorized',
  'badRequest',
  'sandboxError',
  'inferenceHookDenied',
] as const;

/** Recorded as errors, but not failures of the turn. */
const HARMLESS = ['threadRollbackFailed', 'activeTurnNotSteerable'];

/**
 * Converts an error of a rollout to the error of a failed turn. Returns null if it is no failure of
 * the turn.
 */
export function turnError(error: Fields): TurnError | null {
  const message = error.text('message');
  const word = camelCase(
    error.text('codex_error_info') ?? error.object('codex_error_info').keys()[0] ?? '',
  );
  if (message === null || HARMLESS.includes(word)) return null;
  return {
    message,
    codexErrorInfo: errorInfo(word, error),
    additionalDetails: error.text('additional_details'),
  };
}

function errorInfo(word: string, error: Fields): CodexErrorInfo {
  const info = error.object('codex_error_info');
  const status = info.object(info.keys()[0] ?? '').number('http_status_code');
  const failure = { httpStatusCode: status };
  switch (word) {
    case 'httpConnectionFailed':
      return { httpConnectionFailed: failure };
    case 'responseStreamConnectionFailed':
      return { responseStreamConnectionFailed: failure };
    case 'responseStreamDisconnected':
      return { responseStreamDisconnected: failure };
    case 'responseTooManyFailedAttempts':
      return { responseTooManyFailedAttempts: failure };
    default:
      return new Fields({ word }).oneOf('word', WORDS) ?? 'other';
  }
}
