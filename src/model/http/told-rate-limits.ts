import type { RateLimitSnapshot, RateLimitWindow } from '../../protocol/generated/types.ts';

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** The protocol has 32 bits for it. */
const PERCENT_MAX = 2 ** 31 - 1;
/** The limit to which headers without a name for it belong. */
const LIMIT_ID = 'codex';

/**
 * Returns the rate limits in the headers of a response, in the form that gateways of Codex use:
 * x-codex-primary-used-percent, -window-minutes and -reset-at, the same for secondary, and
 * x-codex-credits-…. Null: there are none.
 */
export function toldRateLimits(headers: Headers): RateLimitSnapshot | null {
  const primary = limitWindow(headers, 'primary');
  const secondary = limitWindow(headers, 'secondary');
  const hasCredits = truth(headers['x-codex-credits-has-credits']);
  const unlimited = truth(headers['x-codex-credits-unlimited']);
  const balance = text(headers['x-codex-credits-balance']);
  const credits =
    hasCredits === null || unlimited === null ? null : { hasCredits, unlimited, balance };
  if (primary === null && secondary === null && credits === null) return null;
  return {
    limitId: LIMIT_ID,
    limitName: null,
    primary,
    secondary,
    credits,
    planType: null,
    rateLimitReachedType: null,
  };
}

function limitWindow(headers: Headers, name: 'primary' | 'secondary'): RateLimitWindow | null {
  const used = number(headers[`x-codex-${name}-used-percent`]);
  if (used === null) return null;
  return {
    usedPercent: Math.min(Math.round(used), PERCENT_MAX),
    windowDurationMins: whole(headers[`x-codex-${name}-window-minutes`]),
    resetsAt: whole(headers[`x-codex-${name}-reset-at`]),
  };
}

function number(value: string | string[] | undefined): number | null {
  const found =
    typeof value === 'string' && /^\d{1,15}(?:\.\d+)?$/.test(value.trim()) ? Number(value) : null;
  return found !== null && found <= 1_000_000_000_000 ? found : null;
}

function whole(value: string | string[] | undefined): number | null {
  const found = number(value);
  return found !== null && Number.isInteger(found) ? found : null;
}

function truth(value: string | string[] | undefined): boolean | null {
  const word = typeof value === 'string' ? value.trim().toLowerCase() : '';
  return word === 'true' ? true : word === 'false' ? false : null;
}

function text(value: string | string[] | undefined): string | null {
  const found = typeof value === 'string' ? value.trim() : '';
  return found === '' ? null : found.slice(0, 100);
}
