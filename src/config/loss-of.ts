import type { SettingName } from './settings.ts';

const LOSSES = [
  { pattern: /^(web_search|tools\.web_search|features\.web_search_request)$/, loss: 'Models do not search the web' },
  { pattern: /^agents\./, loss: 'Models do not get the tools for agents' },
  { pattern: /^review_model$/, loss: 'The server refuses reviews' },
  { pattern: /^cli_auth_credentials_store$/, loss: 'It has no effect' },
];

/** Returns what is lost while these settings are invalid, as details of a warning. Null: threads that need them. */
export function lossOf(settings: readonly SettingName[]): string | null {
  const found = LOSSES.find(({ pattern }) => settings.length > 0 && settings.every((name) => pattern.test(name)));
  return found === undefined ? null : `${found.loss} until you correct it. Everything else works.`;
}
