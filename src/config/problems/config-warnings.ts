import { join } from 'node:path';
import { suggestKey } from '../../base/text/suggest-key.ts';
import type { ConfigWarningNotification } from '../../protocol/generated/types.ts';
import type { Config } from '../config.ts';
import { type ConfigReads, errorThrownBy } from '../config-errors.ts';
import { TOP_KEYS } from '../keys/known-tables.ts';
import { tellSome } from '../keys/tell-some.ts';
import type { Layer } from '../layers/layer.ts';
import { isRequestLayer } from '../layers/request-layer.ts';
import { type ConfigSources, loadConfig } from '../load-config.ts';
import { AUTH_FILE } from '../login/stored-login.ts';
import { chooseProvider } from '../providers/choose-provider.ts';
import { ConfigError, type LocatedWarning, NO_LOCATION } from '../toml/config-error.ts';
import {
  type ConfigProblem,
  configProblems,
  hookProblems,
  roleProblems,
  unreadable,
  warningProblem,
} from './config-problems.ts';
import { modelAdvice } from './stand-in-warning.ts';

/**
 * Returns the warnings that a client gets after `initialize`: a source that cannot be read, invalid
 * values, ignored keys, keys that look misspelt, and the use of the embedded model by default.
 * `further` reads what other parts of the server use. Never throws a ConfigError.
 */
export async function configWarnings(
  sources: ConfigSources,
  further: ConfigReads = () => [],
): Promise<ConfigWarningNotification[]> {
  let config: Config;
  try {
    config = await loadConfig(sources);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [unreadable(error).warning];
  }
  return [...allProblems(config, sources, further), ...embeddedDefault(config)].map(
    ({ warning }) => warning,
  );
}

/** Returns all problems of a configuration and of the files that it was read from. */
export function allProblems(
  config: Config,
  { trustedFiles }: ConfigSources,
  further: ConfigReads,
): ConfigProblem[] {
  const { problem, path } = trustedFiles;
  const ofTrust =
    problem === null
      ? []
      : [
          warningProblem(
            { summary: problem.message, details: null, location: { path, range: null } },
            'invalid',
          ),
        ];
  return [
    ...configProblems(config, further),
    ...ofTrust,
    ...projectProblems(config),
    ...loginProblems(config),
  ];
}

/**
 * Returns the problems of a project: an entry or files that are not in force although the user
 * trusts the project, and ignored keys.
 */
export function projectProblems(config: Config): ConfigProblem[] {
  const ofLayers = config.layers.flatMap((layer) => [
    ...disabledFile(layer),
    ...ignoredKeys(layer),
  ]);
  const project = { isProjects: true };
  return [
    ...trustProblems(config),
    ...ofLayers.map((warning) => warningProblem(warning, 'noEffect')),
    ...roleProblems(config, project),
    ...hookProblems(config, project),
  ];
}

/** The problem that the entry for the project is not in force. */
function trustProblems(config: Config): ConfigProblem[] {
  const { entry, problem } = config.trust;
  if (entry === null || problem === null) return [];
  const { message: summary, location } = config.error(['projects', entry], problem);
  return [warningProblem({ summary, details: null, location }, 'noEffect')];
}

/** Returns the problems of a request's `config` object. */
export function requestProblems(config: Config, further: ConfigReads): ConfigProblem[] {
  if (!config.layers.some(isRequestLayer)) return [];
  return configProblems(config, further).filter(({ isRequests }) => isRequests);
}

function disabledFile({ disabledReason, warnsDisabled, locate }: Layer): LocatedWarning[] {
  if (disabledReason === null || !warnsDisabled) return [];
  return [{ summary: disabledReason, details: null, location: locate([]) }];
}

function ignoredKeys({ ignoredKeys: keys, locate }: Layer): LocatedWarning[] {
  const told = (text: string, path: readonly string[], details: string): LocatedWarning => {
    const { message, location } = new ConfigError(text, locate(path));
    return { summary: message, details, location };
  };
  return tellSome(keys, {
    each: ({ path, reason }) => {
      const suggested = path.length === 1 ? suggestKey(path[0] ?? '', TOP_KEYS) : null;
      return told(
        `${path.join('.')} is ignored: ${reason}`,
        path,
        suggested === null ? IN_HOME : `Did you mean ${suggested}?`,
      );
    },
    rest: (names) =>
      told(
        `these keys are ignored, too: ${names}`,
        [],
        'docs/configuration/projects.md lists the keys that a project can set.',
      ),
  });
}

const IN_HOME = 'Set it in the config.toml in your heddle home instead.';

function loginProblems(config: Config): ConfigProblem[] {
  const { problem, hasChatgptLogin, apiKey } = config.login;
  const location = { path: join(config.home, AUTH_FILE), range: null };
  if (problem !== null)
    return [warningProblem({ summary: problem, details: null, location }, 'invalid')];
  // Otherwise the warning about the embedded model names it.
  if (!hasChatgptLogin || apiKey !== null || embeddedDefault(config).length > 0) return [];
  const summary = 'heddle does not use the ChatGPT login in auth.json: it supports API keys';
  return [
    {
      ...warningProblem({ summary, details: null, location }, 'noEffect'),
      fix: 'Log in with account/login/start and an API key.',
    },
  ];
}

/** The problem that no provider is configured; none if one is. */
function embeddedDefault(config: Config): ConfigProblem[] {
  if (
    errorThrownBy(() => chooseProvider(config, null)) !== null ||
    !chooseProvider(config, null).embeddedDefault
  )
    return [];
  const summary = 'No model provider is configured: answers come from the embedded model, offline.';
  return [
    warningProblem({ summary, details: modelAdvice(config), location: NO_LOCATION }, 'noEffect'),
  ];
}
