import type { TurnError } from '../../protocol/generated/types.ts';

/**
 * Whether the provider cannot answer now, whatever it is asked. The turn's own request shows that
 * too.
 */
export function isOutage(error: TurnError | null): boolean {
  const info = error?.codexErrorInfo ?? null;
  if (info === null || typeof info === 'string') return OUTAGES.has(info);
  const status = 'httpConnectionFailed' in info ? info.httpConnectionFailed.httpStatusCode : null;
  return status === null || status >= SERVER_ERROR;
}

const SERVER_ERROR = 500;
const OUTAGES = new Set<unknown>([
  'usageLimitExceeded',
  'rateLimitExceeded',
  'serverOverloaded',
  'unauthorized',
]);
