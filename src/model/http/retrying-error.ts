import type { TurnError } from '../../protocol/generated/types.ts';

/**
 * An error as clients see it while the request is retried: always a broken stream, with the HTTP
 * status if there is one. The real kind of error is reported only when it is final.
 * `additionalDetails` distinguishes the retries.
 */
export function retryingError(error: TurnError, additionalDetails: string): TurnError {
  return {
    ...error,
    codexErrorInfo: { responseStreamDisconnected: { httpStatusCode: statusOf(error) } },
    additionalDetails,
  };
}

function statusOf({ codexErrorInfo: info }: TurnError): number | null {
  if (typeof info !== 'object' || info === null) return null;
  if ('httpConnectionFailed' in info) return info.httpConnectionFailed.httpStatusCode ?? null;
  if ('responseTooManyFailedAttempts' in info)
    return info.responseTooManyFailedAttempts.httpStatusCode ?? null;
  return null;
}
