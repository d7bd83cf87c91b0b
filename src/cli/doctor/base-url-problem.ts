import type { Config } from '../../config/config.ts';
import type { ProviderConfig } from '../../config/providers/provider-config.ts';
import { shownUrl } from '../../model/http/shown-url.ts';
import type { DoctorProblem } from './doctor-check.ts';
import { settingPlace } from './setting-place.ts';

/** The paths that heddle adds to a base_url, or that users copy from examples with it. */
const ENDPOINT = /\/(?:responses|chat\/completions|completions|chat|models|messages)$/;
/** A part of a path with a version, as most APIs have. */
const VERSION = /\/v\d/;

/**
 * Looks at the form of a base_url. `answers`: the provider was reached; `lists`: it has listed its
 * models, so that the URL is right, whatever its form.
 */
export function baseUrlProblem(
  config: Config,
  { id, baseUrl }: ProviderConfig,
  { answers, lists }: { answers: boolean; lists: boolean },
): DoctorProblem[] {
  if (baseUrl === null || lists || !URL.canParse(baseUrl)) return [];
  const url = new URL(baseUrl);
  const path = url.pathname.replace(/\/+$/, '');
  const place = settingPlace(config, ['model_providers', id, 'base_url']);
  const fix = (to: string) =>
    `Set base_url = ${JSON.stringify(withPath(url, to))} in [model_providers.${id}] in config.toml`;
  const [ending] = ENDPOINT.exec(path) ?? [];
  if (ending !== undefined) {
    const message = `the base_url of the provider ${id} ends in ${ending}, but heddle adds the path of each request itself`;
    return [
      { severity: 'error', message, fix: `${fix(path.slice(0, -ending.length))}.`, ...place },
    ];
  }
  if (VERSION.test(path) || (path !== '' && !answers)) return [];
  const message = `the base_url of the provider ${id} has no version such as /v1, which most providers need`;
  return [
    {
      severity: 'warning',
      message,
      fix: `${fix(`${path}/v1`)}, unless the provider documents another one.`,
      ...place,
    },
  ];
}

function withPath(url: URL, path: string): string {
  const changed = new URL(url);
  changed.pathname = path;
  return shownUrl(changed).replace(/\/$/, '');
}
