const UNIT_MS = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
]);

/**
 * The wait in `retry-after-ms` or `retry-after` (seconds or a date); null if there is none or it is
 * not valid. A date counts from the response's own `date`, because the clocks of provider and
 * machine may differ, and else from `now`, in Unix milliseconds.
 */
export function retryAfterMs(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  now: number,
): number | null {
  const exact = headers['retry-after-ms'];
  if (typeof exact === 'string' && isNumber(exact)) return Number(exact);
  const given = headers['retry-after'];
  if (typeof given !== 'string') return null;
  if (isNumber(given)) return Number(given) * 1_000;
  const date = /^[a-z]/i.test(given.trim()) ? Date.parse(given) : Number.NaN;
  const sent = typeof headers.date === 'string' ? Date.parse(headers.date) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - (Number.isNaN(sent) ? now : sent));
}

/** The wait in a text such as "Please try again in 1m30.5s."; null if there is none. */
export function waitInTextMs(text: string): number | null {
  const match =
    /\b(?:try again|retry) (?:in|after) ((?:\d+(?:\.\d+)? ?(?:ms|[smh])[a-z]* ?)+)/i.exec(text);
  if (match?.[1] === undefined) return null;
  let sum = 0;
  for (const [, amount, unit = ''] of match[1].matchAll(/(\d+(?:\.\d+)?) ?(ms|[smh])/gi)) {
    sum += Number(amount) * (UNIT_MS.get(unit.toLowerCase()) ?? 0);
  }
  return Math.ceil(sum);
}

function isNumber(text: string): boolean {
  return /^\d+(?:\.\d+)?$/.test(text.trim());
}
