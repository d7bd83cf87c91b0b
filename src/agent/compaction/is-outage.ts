import type { TurnError } from '../../protocol/generated/types.ts';

/** Whether the provider cannot answer now, whatever it is asked. The turn's own request shows that too. */
export function isOutage(error: TurnError | null): boolean {
  const info = error?.codexErrorInfo ?? null;
  return typeof info === 'object' ? info !== null : OUTAGES.has(info);
}

const OUTAGES = new Set<unknown>(['usageLimitExceeded', 'rateLimitExceeded', 'serverOverloaded', 'unauthorized', 'modelNotFound']);
