import type { Clock } from '../../base/clock.ts';
import type { Env } from '../../base/env.ts';
import type { Log } from '../../base/log.ts';
import type { Config } from '../../config/config.ts';
import { modelAdvice, standInWarning } from '../../config/problems/stand-in-warning.ts';
import { chooseModel, chooseProvider, isEmbedded } from '../../config/providers/choose-provider.ts';
import { isOffline, type ProviderConfig } from '../../config/providers/provider-config.ts';
import { shortWindow } from '../../config/providers/short-window.ts';
import { ConfigError } from '../../config/toml/config-error.ts';
import { resolveEndpoint } from '../../model/http/endpoint.ts';
import { askProvider, loadedWindows } from '../../model/http/installed-models.ts';
import { shownUrl } from '../../model/http/shown-url.ts';
import { baseUrlProblem } from './base-url-problem.ts';
import { type DoctorCheck, type DoctorProblem, NO_CONFIGURATION } from './doctor-check.ts';
import { modelProblem } from './model-problem.ts';

interface ProviderDeps {
  env: Env;
  clock: Clock;
  log: Log;
  userAgent: string;
}

/**
 * Looks at the provider of a thread that names none: its URL and key, whether it answers, and
 * whether it has the model.
 */
export async function checkProvider(
  config: Config | null,
  deps: ProviderDeps,
): Promise<DoctorCheck> {
  if (config === null) return failed(NO_CONFIGURATION, []);
  const chosen = chosenProvider(config);
  if ('severity' in chosen) return failed('cannot be chosen', [chosen]);
  const { provider, model } = chosen;
  const key = keySource(provider, config);
  const url = provider.baseUrl === null ? null : shownUrl(new URL(provider.baseUrl));
  const facts = {
    provider: provider.id,
    name: provider.name,
    api: provider.wireApi,
    url,
    model,
    key,
  };
  const summary = `${provider.id}, model ${model}${url === null ? '' : `, at ${url}`}${key === null ? '' : `, with the key of ${key}`}`;
  if (isOffline(provider)) {
    return {
      name: 'provider',
      summary,
      facts: { ...facts, reachable: null },
      problems: embeddedProblems(config, chosen),
    };
  }
  const { problem, listed } = await askProvider(provider, withKey(config, deps));
  const windows =
    problem === null
      ? await loadedWindows(provider, withKey(config, deps))
      : new Map<string, number>();
  const isAsked = !('message' in resolveEndpoint(provider, 'models', withKey(config, deps)));
  const problems = [
    ...baseUrlProblem(config, provider, { answers: problem === null, lists: listed !== null }),
    ...(problem === null ? [] : [unusable(provider, problem)]),
    ...modelProblem(config, { provider, model, listed: listed ?? [] }),
    ...windowProblem(provider, model, windows.get(model) ?? null),
  ];
  return {
    name: 'provider',
    summary,
    facts: { ...facts, reachable: isAsked ? problem === null : null },
    problems,
  };
}

function failed(summary: string, problems: readonly DoctorProblem[]): DoctorCheck {
  return { name: 'provider', summary, facts: {}, problems };
}

function chosenProvider(
  config: Config,
): { provider: ProviderConfig; embeddedDefault: boolean; model: string } | DoctorProblem {
  try {
    const { provider, embeddedDefault } = chooseProvider(config, null);
    return { provider, embeddedDefault, model: chooseModel(config, provider, null) };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const { path, range } = error.location;
    const place = {
      ...(path === null ? {} : { file: path }),
      ...(range === null ? {} : range.start),
    };
    return {
      severity: 'error',
      message: error.message,
      fix: 'Correct model_provider, its table, or model in config.toml.',
      ...place,
    };
  }
}

/** The source of the key that is sent; null: none is sent, or it is missing. */
function keySource(
  { usesLogin, envKey, httpHeaders }: ProviderConfig,
  { login, env }: Config,
): string | null {
  if (Object.keys(httpHeaders).some((name) => name.toLowerCase() === 'authorization'))
    return 'config.toml';
  if (usesLogin && login.apiKey !== null) return 'auth.json';
  return envKey !== null && Object.hasOwn(env, envKey) && env[envKey] ? envKey : null;
}

/** A program on this machine has the model loaded with a short context window. */
function windowProblem(
  provider: ProviderConfig,
  model: string,
  tokens: number | null,
): DoctorProblem[] {
  const short = shortWindow(provider, model, tokens);
  return short === null ? [] : [{ severity: 'warning', message: short.problem, fix: short.advice }];
}

function unusable({ id }: ProviderConfig, message: string): DoctorProblem {
  return {
    severity: 'error',
    message,
    fix: `Follow the message, or check [model_providers.${id}] in config.toml.`,
  };
}

function withKey(config: Config, deps: ProviderDeps) {
  return { ...deps, storedLogin: () => config.login };
}

function embeddedProblems(
  config: Config,
  { provider, embeddedDefault }: { provider: ProviderConfig; embeddedDefault: boolean },
): DoctorProblem[] {
  const isChosen = !embeddedDefault;
  const wanted = config.get('model');
  if (!isEmbedded(config, provider) || (isChosen && wanted === null)) return [];
  const advice = isChosen
    ? 'Choose another model_provider in config.toml, or remove model.'
    : modelAdvice(config);
  const message =
    standInWarning(config, { provider, embeddedDefault, wanted })?.problem ??
    'No model provider is configured: the embedded model answers, offline.';
  return [{ severity: 'warning', message, fix: advice }];
}
