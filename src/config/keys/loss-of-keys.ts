import type { ReadName } from '../config-errors.ts';

const LOSSES = [
  {
    pattern: /^(web_search|tools\.web_search|features\.web_search_request)$/,
    details: untilCorrected('Models do not search the web'),
  },
  {
    pattern: /^(agents\.|features\.multi_agent$)/,
    details: untilCorrected('Models do not get the tools for sub-agents'),
  },
  { pattern: /^review_model$/, details: untilCorrected('The server refuses reviews') },
  { pattern: /^features\.hooks$/, details: untilCorrected('Hooks run') },
  { pattern: /^projects$/, details: untilCorrected('The folder counts as untrusted') },
  { pattern: /^cli_auth_credentials_store$/, details: untilCorrected('It has no effect') },
];

/**
 * Returns what is lost while these are invalid, as details of a warning. Null: threads that need
 * them.
 */
export function lossOfKeys(names: readonly ReadName[]): string | null {
  const found = LOSSES.find(
    ({ pattern }) => names.length > 0 && names.every((name) => pattern.test(name)),
  );
  return found?.details ?? null;
}

/** The details of a warning about something that is lost. */
export function untilCorrected(loss: string): string {
  return `${loss} until you correct it. Everything else works.`;
}
